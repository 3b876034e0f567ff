import { edit, grep, readAll, run } from '../expert.ts';
import { expectExit, found, hitsInCode, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const overflow = 'date.setMonth(date.getMonth() + months);';
const file = 'src/dates.ts';
const utc = [
  { file, from: 'new Date(year, month - 1, day)', to: 'new Date(Date.UTC(year, month - 1, day))' },
  {
    file,
    from: overflow,
    to: 'const day = date.getUTCDate();\n  date.setUTCMonth(date.getUTCMonth() + months);\n  if (date.getUTCDate() !== day) date.setUTCDate(0);',
  },
];

export const task = defineTask({
  kind: 'bug',
  language: 'TypeScript',
  prompt:
    'A contract that starts on January 31 gets invoices on March 3 and then always on the 3rd. It should be the last day of a shorter month, and the 31st again where there is one. Customers in Berlin also report dates that are a day early. Please make dates right in every time zone (they have none), with tests.',
  tests: 'node --test',
  check: 'node --test test/hidden.test.ts test/schedule.test.ts',
  wrong: {
    'the 28th from then on': utc,
    'in local time': [
      {
        file,
        from: overflow,
        to: 'const day = date.getDate();\n  date.setMonth(date.getMonth() + months);\n  if (date.getDate() !== day) date.setDate(0);',
      },
      {
        file: 'src/schedule.ts',
        from: '    date = addMonths(date, every);',
        to: '    date = addMonths(start, every * (number + 1));',
      },
    ],
  },
  *expert() {
    const [place] = hitsInCode(yield* grep('setMonth'));
    const path = place?.path ?? '';
    const [dates = '', schedule = '', tests = ''] = yield* readAll(path, 'src/schedule.ts', 'test/schedule.test.ts');
    const shown = yield* run(
      `for tz in UTC Europe/Berlin; do TZ=$tz node --input-type=module-typescript -e "import { addMonths } from './${path}'; console.log(addMonths('2026-01-31', 1), addMonths('2026-01-15', 1))"; done`,
    );
    found(shown, /(2026-03-03)/);
    yield* edit(
      path,
      part(dates, 'return new Date('),
      '  const date = new Date(0);\n  // Date.UTC takes years below 100 as those of the last century.\n  date.setUTCFullYear(year, month - 1, day);\n  return date;',
    );
    yield* edit(
      path,
      part(dates, 'date.setMonth'),
      `  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months);
  // A shorter month ends before this day: back to its last one.
  if (date.getUTCDate() !== day) date.setUTCDate(0);`,
    );
    yield* edit(
      'src/schedule.ts',
      part(schedule, 'const invoices', 'date = addMonths'),
      `  const invoices: Invoice[] = [];
  for (let number = 0; number < count; number++) {
    // From the start each time, so that a short month does not shorten the next ones.
    const date = addMonths(start, every * number);
    invoices.push({ date, due: addDays(date, days) });`,
    );
    const last = part(tests, '2027-01-30');
    yield* edit(
      'test/schedule.test.ts',
      last,
      `${last}
});

test('the last days of months, whatever the time zone', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Los_Angeles']) {
    process.env.TZ = zone;
    const dates = schedule('2026-01-31', { every: 1, days: 1 }, 4).map(({ date }) => date);
    assert.deepEqual(dates, ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']);
  }`,
    );
    const ended = yield* run('node --test && TZ=Europe/Berlin node --test');
    found(ended, /pass (4)/);
    expectExit(ended, 0);
    yield* run('git diff src');
    return 'Dates are counted in UTC, a month without the day gives its last one, and a schedule counts from its start. Tests pass in several time zones.';
  },
});
