import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const code = `
import { addDays, addMonths } from './src/dates.ts';
import { schedule } from './src/schedule.ts';
console.log(JSON.stringify([
  addMonths('2026-01-31', 1), addMonths('2028-01-31', 1), addMonths('2026-03-31', -1), addMonths('2026-12-31', 2), addMonths('2026-05-31', 13), addMonths('2024-02-29', 12), addMonths('0099-01-31', 1),
  addDays('2026-03-28', 2), addDays('2026-10-24', 2), addDays('2026-10-25', 1), addDays('2026-01-01', -1), addDays('2028-02-28', 1),
  schedule('2026-01-31', { every: 1, days: 30 }, 4),
  schedule('2024-02-29', { every: 12, days: 0 }, 5).map(({ date }) => date),
]));`;

const expected = [
  '2026-02-28', '2028-02-29', '2026-02-28', '2027-02-28', '2027-06-30', '2025-02-28', '0099-02-28',
  '2026-03-30', '2026-10-26', '2026-10-26', '2025-12-31', '2028-02-29',
  [
    { date: '2026-01-31', due: '2026-03-02' },
    { date: '2026-02-28', due: '2026-03-30' },
    { date: '2026-03-31', due: '2026-04-30' },
    { date: '2026-04-30', due: '2026-05-30' },
  ],
  ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
];

for (const TZ of ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Pacific/Auckland', 'America/Sao_Paulo']) {
  test(TZ, () => {
    const out = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', code], { env: { ...process.env, TZ }, encoding: 'utf8' });
    assert.deepEqual(JSON.parse(out), expected);
  });
}
