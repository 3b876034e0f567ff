import { type OperatorPolicy, operatorPolicySchema, policySchema } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundBy, holdsPublish, judge, judgeCall } from './judge-call.ts';

const actions = ['allow', 'hold', 'deny'] as const;
const strictness = (action: string) => actions.indexOf(action as never);
const rule = fc.record({
  match: fc.record(
    {
      effect: fc.constantFrom('read', 'workspace', 'external'),
      risk: fc.constantFrom('low', 'medium', 'high'),
      tool: fc.constantFrom('edit', 'bash', 'read_file'),
    },
    { requiredKeys: [] },
  ),
  action: fc.constantFrom(...actions),
});
const rules = fc.array(rule, { maxLength: 4 });
const call = fc.record({
  tool: fc.constantFrom('edit', 'bash', 'read_file'),
  effect: fc.constantFrom('read', 'workspace', 'external'),
  risk: fc.constantFrom('low', 'medium', 'high'),
});
const operator = rules.map((some) => operatorPolicySchema.parse({ rules: some }));

test('no run gets more than its own policy, and none of those of the operator, allow', () => {
  fc.assert(
    fc.property(rules, fc.array(operator, { maxLength: 3 }), fc.option(operator), call, (own, recorded, now, one) => {
      const policy = policySchema.parse({ rules: own });
      const { action } = judgeCall({ policy, operator: recorded }, now ?? undefined, one);
      expect(strictness(action)).toBeGreaterThanOrEqual(strictness(judge(policy, one).action));
      for (const each of [...recorded, ...(now === null ? [] : [now])]) {
        // Alone it says what it would say of a run that allows everything.
        const all = policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });
        expect(strictness(action)).toBeGreaterThanOrEqual(strictness(judgeCall({ policy: all }, each, one).action));
      }
    }),
  );
});

test('without a rule that matches the run decides', () => {
  const policy = policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });
  const operatorPolicy = operatorPolicySchema.parse({ rules: [{ match: { tool: 'bash' }, action: 'hold' }] });
  const judged = (tool: string) => judgeCall({ policy }, operatorPolicy, { tool, effect: 'workspace', risk: 'low' });
  expect(judged('edit').action).toBe('allow');
  expect(judged('bash')).toEqual({ action: 'hold', reason: "rule 1 of the operator's policy: hold" });
});

test('a publish is held by any of them, and says by which', () => {
  const policy = policySchema.parse({});
  const hold = operatorPolicySchema.parse({ publish: 'hold' });
  expect(holdsPublish({ policy }, undefined)).toBe(undefined);
  expect(holdsPublish({ policy: { ...policy, publish: 'hold' } }, undefined)).toBe('run');
  expect(holdsPublish({ policy }, hold)).toBe('operator');
  expect(holdsPublish({ policy, operator: [hold] }, undefined)).toBe('operator');
});

test('a run records each policy once, also those of the run that it goes on from', () => {
  const [a, b] = ['a', 'b'].map((reason): OperatorPolicy => {
    return operatorPolicySchema.parse({ rules: [{ match: {}, action: 'hold', reason }] });
  });
  expect(boundBy(undefined)).toEqual({});
  expect(boundBy(a)).toEqual({ operator: [a] });
  expect(boundBy(structuredClone(a), { operator: a && [a] })).toEqual({ operator: [a] });
  expect(boundBy(b, { operator: a && [a] })).toEqual({ operator: [a, b] });
});

test.each([
  [{ rules: [{ match: { tol: 'bash' }, action: 'hold' }] }],
  [{ rules: [{ match: {}, action: 'park' }] }],
  [{ publsh: 'hold' }],
])('%j is no policy', (value) => {
  expect(operatorPolicySchema.safeParse(value).success).toBe(false);
});
