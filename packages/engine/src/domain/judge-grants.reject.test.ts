import type { Verdict } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { denialOf } from './judge-grants.ts';

const denied = (policy: string, part?: Verdict['part']): Verdict => ({
  action: 'deny',
  reason: 'it is not on the list',
  rule: { policy, digest: `sha256:${'0'.repeat(64)}`, index: 0, name: 'list' },
  part,
});

test('a denial names the refused command of a line', () => {
  const part = { kind: 'command', detail: 'rm a' } as const;
  expect(denialOf(denied('toolset:sage', part), 'gate')).toEqual({
    code: 'EPERMISSION',
    message: 'Not run: the rule list of the toolset sage denies this call (it is not on the list).',
    next: 'Refused: rm a. Continue without it: no policy and no decision lets such a call run.',
  });
  expect(denialOf(denied('run', part), 'attempt')).toMatchObject({
    message: 'Not run: the policy denies this call by now: rm a (it is not on the list).',
  });
  expect(denialOf(denied('run'), 'gate')).toMatchObject({
    message: 'Not run: the policy denies this call (it is not on the list).',
  });
});
