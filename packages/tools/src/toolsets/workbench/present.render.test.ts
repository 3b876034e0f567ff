import { fileErrorCodes, isSettled, type SettledCall, stepStatusSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { presentWorkbench } from './present.ts';

const times = { created_at: '', started_at: null, settled_at: '', queued_ms: 5, duration_ms: 70 };
const modes = { read_only: false, dry_run: false, deterministic: false };
const present = (call: Partial<SettledCall>) =>
  presentWorkbench({ tool: 'read_file', args: {}, status: 'succeeded', times, settings: {}, modes, ...call });
const failed = (code: string) => present({ status: 'failed', error: { code, message: 'why', next: 'what to do' } });

// covers S2-02
test('a success is its value', () => {
  expect(present({ value: { content: 'x' } })).toEqual({ ok: true, value: { content: 'x' } });
  expect(present({})).toEqual({ ok: true, value: null });
});

// covers S2-02
test('a failure has a code, a message, and the reason in details', () => {
  expect(failed('ENOENT')).toEqual({
    ok: false,
    error: { code: 'FILE_NOT_FOUND', message: 'why', details: { reason: 'ENOENT', next: 'what to do' } },
  });
});

// covers C-11, S2-60, S2-62, S2-64, S2-65, S2-66
test.each([
  ['EINVALIDARGS', 'INVALID_ARGS'],
  ['EREFERENCE', 'INVALID_ARGS'],
  ['EUNKNOWNTOOL', 'TOOL_NOT_FOUND'],
  ['EPERMISSION', 'PERMISSION_DENIED'],
  ['EOUTSIDE', 'INVALID_PATH'],
  ['EINVAL', 'INVALID_PATH'],
  ['EREPOSITORY', 'PERMISSION_DENIED'],
  ['EEXIST', 'ALREADY_EXISTS'],
  ['ENOTEMPTY', 'DIRECTORY_NOT_EMPTY'],
  ['ENOTDIR', 'NOT_A_DIRECTORY'],
  ['EISDIR', 'IS_A_DIRECTORY'],
  ['ENETWORK', 'NETWORK_ERROR'],
  ['EADDRESSREFUSED', 'PERMISSION_DENIED'],
  ['ETIMEOUT', 'TIMEOUT'],
  ['EQUOTA', 'EXECUTION_ERROR'],
  ['EBADOUTPUT', 'EXECUTION_ERROR'],
  ['ETASKLOST', 'EXECUTION_ERROR'],
  ['toString', 'EXECUTION_ERROR'],
])('%s is %s', (code, expected) => {
  expect(failed(code)).toMatchObject({ ok: false, error: { code: expected } });
});

// covers C-11
test.each([
  ['rejected', 'EREJECTED', 'APPROVAL_DENIED'],
  ['rejected', 'ERESPONDED', 'APPROVAL_DENIED'],
  ['expired', 'EEXPIRED', 'APPROVAL_DENIED'],
  ['timed_out', 'ETIMEOUT', 'TIMEOUT'],
  ['killed', 'EKILLED', 'EXECUTION_ERROR'],
  ['canceled', 'ECANCELED', 'EXECUTION_ERROR'],
] as const)('a call that ended as %s with %s is %s', (status, code, expected) => {
  expect(present({ status, error: { code, message: 'why' } })).toMatchObject({
    ok: false,
    error: { code: expected, message: 'why', details: { reason: code } },
  });
});

// covers C-11
test('every end and every refusal of a file has a result', () => {
  for (const status of stepStatusSchema.options.filter(isSettled)) {
    const result = present({ status: status as SettledCall['status'] });
    expect(result).toMatchObject(
      status === 'succeeded' ? { ok: true } : { ok: false, error: { code: expect.stringMatching(/^[A-Z_]+$/) } },
    );
  }
  for (const code of Object.keys(fileErrorCodes)) {
    expect(failed(code)).toMatchObject({ error: { details: { reason: code } } });
  }
});

// covers C-12, S2-80
test('the duration of code comes from the times of the call', () => {
  const value = { stdout: '', stderr: '', exitCode: 0 };
  expect(present({ tool: 'run_code', value })).toEqual({ ok: true, value: { ...value, duration: 70 } });
  expect(present({ tool: 'run_code', value: { dry_run: true } })).toEqual({ ok: true, value: { dry_run: true } });
  expect(present({ tool: 'read_file', value })).toEqual({ ok: true, value });
});

// covers C-12
test('equal calls have equal stored values, and presenting one changes nothing', () => {
  const value = Object.freeze({ stdout: 'x', stderr: '', exitCode: 1 });
  const call = { tool: 'run_code', value };
  expect(present(call)).toEqual(present(call));
  expect(value).toEqual({ stdout: 'x', stderr: '', exitCode: 1 });
});

// covers S2-65
test('a failure keeps what the call printed', () => {
  const value = { stdout: 'half', stderr: '' };
  expect(
    present({ tool: 'run_code', status: 'timed_out', value, error: { code: 'ETIMEOUT', message: 'late' } }),
  ).toEqual({
    ok: false,
    error: { code: 'TIMEOUT', message: 'late', details: { reason: 'ETIMEOUT', value } },
  });
});

// covers C-11
test('every end without a code has a code of the contract', () => {
  for (const [status, code] of [
    ['rejected', 'APPROVAL_DENIED'],
    ['expired', 'APPROVAL_DENIED'],
    ['timed_out', 'TIMEOUT'],
    ['killed', 'EXECUTION_ERROR'],
    ['canceled', 'EXECUTION_ERROR'],
    ['indeterminate', 'EXECUTION_ERROR'],
    ['undone', 'EXECUTION_ERROR'],
    ['failed', 'EXECUTION_ERROR'],
  ] as const) {
    expect(present({ status })).toMatchObject({ ok: false, error: { code } });
  }
});
