import { expect, test } from 'vitest';
import { cutShort } from './cut-short.ts';

test.each([
  [{ status: 'timed_out', after_ms: 1500 }, 'timed_out', 'ETIMEOUT', 'after 1.5 s'],
  [{ status: 'quota', quota: 'memory', limit: 9 }, 'failed', 'EQUOTA', 'memory bytes of 9.'],
  [{ status: 'quota', quota: 'disk', limit: 9 }, 'failed', 'EQUOTA', 'towards 9 bytes.'],
  [{ status: 'killed', reason: 'its run was canceled.' }, 'killed', 'EKILLED', 'killed: its run was canceled.'],
] as const)('a command that ended by %o is %s', (end, status, code, said) => {
  expect(cutShort(end, 'make')).toEqual({
    status,
    error: { code, message: expect.stringMatching(`^make .*${said.replaceAll('.', '\\.')}`), next: expect.any(String) },
  });
});
