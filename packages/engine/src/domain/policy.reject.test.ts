import { type Policy, policySchema } from '@holdpoint/contract';
import type { CallFacts } from '@holdpoint/policy';
import { expect, test } from 'vitest';
import { addUp, judgeCall } from './judge-call.ts';

const touches = { paths: [], commands: [], hosts: [] };
const bash: CallFacts = {
  ...{ toolset: 'holdpoint', tool: 'bash', args: {}, touches, labels: {} },
  ...{ effect: 'workspace', risk: 'medium' },
};
const judge = (policy: Policy, call: CallFacts) => judgeCall({ policy }, undefined, call);

test('without rules only external effects are held', () => {
  const policy = policySchema.parse({});
  expect(judge(policy, bash).action).toBe('allow');
  expect(judge(policy, { ...bash, effect: 'read' }).action).toBe('allow');
  expect(judge(policy, { ...bash, effect: 'external' }).action).toBe('hold');
});

test('the first matching rule decides and gives the reason', () => {
  const policy = policySchema.parse({
    rules: [
      { match: { tool: 'edit' }, action: 'hold' },
      { match: { effect: 'workspace', risk: 'medium' }, action: 'deny', reason: 'frozen' },
      { match: {}, action: 'allow' },
    ],
  });
  expect(judge(policy, { ...bash, tool: 'edit' }).action).toBe('hold');
  expect(judge(policy, bash)).toMatchObject({ action: 'deny', reason: 'frozen', rule: { policy: 'run', index: 1 } });
  expect(judge(policy, { ...bash, risk: 'high' }).action).toBe('allow');
});

test('a rule that holds the path behind a link adds its terms, and relaxes none', () => {
  const held = { action: 'hold' as const, reason: 'its own', deciders: [{ quorum: 2 }], on_expiry: 'allow' as const };
  const behind = {
    action: 'hold' as const,
    reason: 'behind',
    deciders: [{ names: ['ops'] }],
    confirm: 'passkey' as const,
  };
  expect(addUp(held, behind)).toMatchObject({
    ...{ reason: 'its own', confirm: 'passkey', on_expiry: undefined },
    deciders: [{ quorum: 2 }, { names: ['ops'] }],
  });
  expect(addUp(held, { action: 'deny', reason: 'no' })).toMatchObject({ action: 'deny' });
  expect(addUp(held, { action: 'allow', reason: 'yes' })).toBe(held);
});
