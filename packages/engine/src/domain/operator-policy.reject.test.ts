import { type OperatorPolicy, operatorPolicySchema, policySchema } from '@holdpoint/contract';
import type { CallFacts } from '@holdpoint/policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inForce } from '../testing/in-force.ts';
import { boundBy, holdsPublish, judgeCall } from './judge-call.ts';

const facts = (call: Pick<CallFacts, 'tool' | 'effect' | 'risk'>): CallFacts => ({
  ...call,
  ...{ toolset: 'holdpoint', args: {}, touches: { paths: [], commands: [], hosts: [] }, labels: {} },
});
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
const call = fc
  .record({
    tool: fc.constantFrom('edit', 'bash', 'read_file'),
    effect: fc.constantFrom('read', 'workspace', 'external'),
    risk: fc.constantFrom('low', 'medium', 'high'),
  })
  .map(facts);
const operator = rules.map((some) => operatorPolicySchema.parse({ rules: some }));

test('a call is allowed only if the policy of the run and every one of the operator allow it', () => {
  fc.assert(
    fc.property(rules, fc.array(operator, { maxLength: 3 }), fc.option(operator), call, (own, recorded, now, one) => {
      const policy = policySchema.parse({ rules: own });
      const { action } = judgeCall({ policy, operator: recorded }, now === null ? undefined : inForce(now), one);
      expect(strictness(action)).toBeGreaterThanOrEqual(strictness(judgeCall({ policy }, undefined, one).action));
      for (const each of [...recorded, ...(now === null ? [] : [now])]) {
        // The verdict of a single operator policy: the run allows everything.
        const all = policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });
        expect(strictness(action)).toBeGreaterThanOrEqual(
          strictness(judgeCall({ policy: all }, inForce(each), one).action),
        );
      }
    }),
  );
});

test('without a matching rule the policy of the run decides', () => {
  const policy = policySchema.parse({ rules: [{ match: {}, action: 'allow' }] });
  const operatorPolicy = operatorPolicySchema.parse({ rules: [{ match: { tool: 'bash' }, action: 'hold' }] });
  const judged = (tool: string) =>
    judgeCall({ policy }, inForce(operatorPolicy), facts({ tool, effect: 'workspace', risk: 'low' }));
  expect(judged('edit').action).toBe('allow');
  expect(judged('bash')).toMatchObject({ action: 'hold', rule: { policy: 'operator', index: 0 } });
});

test('any policy can hold a publish, and the result names it', () => {
  const policy = policySchema.parse({});
  const hold = operatorPolicySchema.parse({ publish: 'hold' });
  expect(holdsPublish({ policy }, undefined)).toBe(undefined);
  expect(holdsPublish({ policy: { ...policy, publish: 'hold' } }, undefined)).toEqual({ by: 'run' });
  expect(holdsPublish({ policy }, inForce(hold))).toEqual({ by: 'operator' });
  expect(holdsPublish({ policy, operator: [hold] }, undefined)).toEqual({ by: 'operator' });
});

test('a passkey that any policy asks for a publish is asked for', () => {
  const policy = policySchema.parse({});
  const [hold, passkey] = (['hold', 'passkey'] as const).map((publish) => operatorPolicySchema.parse({ publish }));
  if (hold === undefined || passkey === undefined) throw new TypeError();
  const byPasskey = { ...policy, publish: 'passkey' as const };
  expect(holdsPublish({ policy: byPasskey }, undefined)).toEqual({ by: 'run', confirm: 'passkey' });
  expect(holdsPublish({ policy: byPasskey }, inForce(hold))).toEqual({ by: 'operator', confirm: 'passkey' });
  expect(holdsPublish({ policy, operator: [passkey] }, inForce(hold))).toEqual({ by: 'operator', confirm: 'passkey' });
});

test('a run records each policy once, with those of the run that it continues', () => {
  const [a, b] = ['a', 'b'].map((reason): OperatorPolicy => {
    return operatorPolicySchema.parse({ rules: [{ match: {}, action: 'hold', reason }] });
  });
  expect(boundBy(undefined)).toEqual({});
  if (a === undefined || b === undefined) throw new TypeError();
  expect(boundBy(inForce(a))).toEqual({ operator: [a] });
  expect(boundBy(inForce(structuredClone(a)), { operator: [a] })).toEqual({ operator: [a] });
  expect(boundBy(inForce(b), { operator: [a] })).toEqual({ operator: [a, b] });
  const second = { ...inForce(b), version: 2 };
  const both = { operator: [a, b], operator_versions: { [second.digest]: 2 } };
  expect(boundBy(second, { operator: [a] })).toEqual(both);
  expect(boundBy(undefined, both)).toEqual(both);
});

test.each([
  [{ rules: [{ match: { tol: 'bash' }, action: 'hold' }] }],
  [{ rules: [{ match: {}, action: 'park' }] }],
  [{ publsh: 'hold' }],
])('%j is not a policy', (value) => {
  expect(operatorPolicySchema.safeParse(value).success).toBe(false);
});
