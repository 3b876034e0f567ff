import type { SettledCall } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { presentRyan } from './present.ts';

const times = { created_at: '', started_at: null, settled_at: '', queued_ms: 5, duration_ms: 70 };
const modes = { read_only: false, dry_run: false, deterministic: false };
const present = (call: Partial<SettledCall>) =>
  presentRyan({ tool: 'read_file', args: {}, status: 'failed', times, settings: {}, modes, ...call });

// covers C-11, S1-14, S1-30, S1-31, S1-32
test.each([
  ['EUNKNOWNTOOL', 'tool not found: read_file'],
  ['EUNKNOWNTOOLSET', 'tool not found: read_file'],
  ['EINVALIDARGS', 'invalid parameters: why'],
  ['EREJECTED', 'denied: why'],
  ['EEXPIRED', 'denied: why'],
  ['ERESPONDED', 'denied: why'],
  ['EPERMISSION', 'security: blocked: why'],
  ['ETIMEOUT', 'command timed out: why'],
  ['EQUOTA', 'quota: why'],
  ['ECANCELED', 'canceled: why'],
  ['EKILLED', 'canceled: why'],
  ['ENOENT', 'why'],
])('the error of %s is %j', (code, error) => {
  expect(present({ error: { code, message: 'why' } })).toMatchObject({ success: false, content: '', error });
});

// covers C-11, S1-03
test('every end has a result in the words of the contract', () => {
  for (const [status, error] of [
    ['failed', 'the call failed'],
    ['rejected', 'denied: the call rejected'],
    ['expired', 'denied: the call expired'],
    ['timed_out', 'timed out: the call timed_out'],
    ['killed', 'canceled: the call killed'],
    ['canceled', 'canceled: the call canceled'],
    ['indeterminate', 'canceled: the call indeterminate'],
    ['undone', 'canceled: the call undone'],
  ] as const) {
    expect(present({ status })).toMatchObject({ success: false, error });
  }
});

// covers S1-03
test('content is text, and everything else is data', () => {
  for (const [value, content, data] of [
    [undefined, '', undefined],
    [null, '', undefined],
    [[1], '', [1]],
    [{ output: 'o', exit: 0 }, 'o', { exit: 0 }],
    [{ output: 'o', content: 'c' }, 'o', { content: 'c' }],
    [{ content: 'c', lines: 1 }, 'c', { lines: 1 }],
    [{ lines: 1 }, '', { lines: 1 }],
  ] as const) {
    const shown = present({ status: 'succeeded', value: value as SettledCall['value'] });
    expect(shown).toMatchObject({ success: true, content });
    expect((shown as { data?: unknown }).data).toEqual(data);
  }
});
