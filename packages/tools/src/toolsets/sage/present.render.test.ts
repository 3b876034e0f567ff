import { fileErrorCodes, isSettled, type SettledCall, stepStatusSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { presentSage } from './present.ts';

const times = {
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:01.000Z',
  settled_at: '2026-01-01T00:00:03.000Z',
  ...{ queued_ms: 5, duration_ms: 2000 },
};
const modes = { read_only: false, dry_run: false, deterministic: false };
const present = (call: Partial<SettledCall>) =>
  presentSage({ tool: 'Read', args: {}, status: 'succeeded', times, settings: {}, modes, ...call });
const failed = (code: string) => present({ status: 'failed', error: { code, message: 'Why.', next: 'Do this.' } });
const meta = { startedAt: times.started_at, endedAt: times.settled_at, durationMs: 2000 };

// covers S4-03, C-12
test('a success has its data and the times of the log', () => {
  expect(present({ value: { content: 'x' } })).toEqual({ ok: true, data: { content: 'x' }, meta });
  expect(present({})).toEqual({ ok: true, data: null, meta });
});

// covers S4-03, S4-62, S4-63
test('a failure has a code, what to do, and its cause without a stack', () => {
  expect(failed('ENOENT')).toEqual({
    ok: false,
    error: { code: 'ERUNTIME', message: 'Why. Do this.' },
    meta: { ...meta, cause: { code: 'ENOENT', message: 'Why.' } },
  });
});

// covers S4-03, S4-64
test('a failure keeps what the call returned before it ended', () => {
  const value = { stdout: 'half', stderr: '', exitCode: null };
  const error = { code: 'ETIMEOUT', message: 'late' };
  expect(present({ status: 'timed_out', value, error })).toMatchObject({ error: { code: 'ETIMEOUT' }, data: value });
});

// covers C-11, S4-61, S4-62, S4-63, S4-64, S4-65
test.each([
  ['EINVALIDARGS', 'EVALIDATION'],
  ['EREFERENCE', 'EVALIDATION'],
  ['EUNKNOWNTOOL', 'EVALIDATION'],
  ['ESECRETUNKNOWN', 'EVALIDATION'],
  ['EPATCHINVALID', 'EVALIDATION'],
  ['EPERMISSION', 'EPERMISSION'],
  ['EOUTSIDE', 'EPERMISSION'],
  ['ENOENT', 'ERUNTIME'],
  ['EBADOUTPUT', 'ERUNTIME'],
  ['EPATCHMISMATCH', 'ERUNTIME'],
  ['toString', 'ERUNTIME'],
  ['ETEXTTIME', 'ETIMEOUT'],
  ['EQUOTA', 'EQUOTA'],
  ['EFILETOOLARGE', 'EQUOTA'],
  ['ENOSPC', 'EQUOTA'],
])('%s is %s', (reason, code) => {
  expect(failed(reason)).toMatchObject({ ok: false, error: { code }, meta: { cause: { code: reason } } });
});

// covers C-11
test.each([
  ['rejected', 'EPERMISSION'],
  ['expired', 'EPERMISSION'],
  ['timed_out', 'ETIMEOUT'],
  ['killed', 'ERUNTIME'],
  ['canceled', 'ERUNTIME'],
  ['indeterminate', 'ERUNTIME'],
  ['undone', 'ERUNTIME'],
] as const)('a call that ended as %s is %s', (status, code) => {
  expect(present({ status })).toMatchObject({ ok: false, error: { code }, meta: { cause: { code: status } } });
});

// covers C-11
test('every end and every refusal of a file has a result', () => {
  for (const status of stepStatusSchema.options.filter(isSettled)) {
    expect(present({ status: status as SettledCall['status'] })).toMatchObject({ ok: status === 'succeeded' });
  }
  for (const code of Object.keys(fileErrorCodes)) {
    expect(failed(code)).toMatchObject({ meta: { cause: { code } } });
  }
});

// covers S4-44
test('a dry run says so, however a call ended', () => {
  const dry = { modes: { ...modes, dry_run: true } };
  expect(present({ value: { written: false }, ...dry })).toMatchObject({ meta: { dryRun: true } });
  expect(present({ status: 'failed', ...dry })).toMatchObject({ meta: { dryRun: true } });
});

// covers S4-72, C-12
test('the clock of a deterministic run stands still', () => {
  const fixed = { modes: { ...modes, deterministic: true } };
  const later = { ...times, started_at: null, settled_at: '2030-01-01T00:00:00.000Z', duration_ms: 9 };
  expect(present({ value: 1, ...fixed })).toEqual(present({ value: 1, ...fixed, times: later }));
  expect(present({ ...fixed })).toMatchObject({
    meta: { startedAt: '2000-01-01T00:00:00.000Z', endedAt: '2000-01-01T00:00:00.000Z', durationMs: 0 },
  });
});

// covers S4-03
test('a call that never began has the time of its end', () => {
  const never = { ...times, started_at: null, duration_ms: 0 };
  expect(present({ status: 'failed', times: never })).toMatchObject({
    meta: { startedAt: times.settled_at, endedAt: times.settled_at, durationMs: 0 },
  });
});
