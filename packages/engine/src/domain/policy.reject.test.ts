import { policySchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { judge } from './judge-call.ts';

const bash = { tool: 'bash', effect: 'workspace', risk: 'medium' } as const;

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
  expect(judge(policy, bash)).toEqual({ action: 'deny', reason: 'frozen' });
  expect(judge(policy, { ...bash, risk: 'high' }).action).toBe('allow');
});
