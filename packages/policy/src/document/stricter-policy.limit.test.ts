import { type PolicyRule, policySchema } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, strictness } from '../judge/judge.ts';
import { facts, rules } from '../testing/arbitrary.ts';
import { bash, call, command, rulesOf } from '../testing/facts.ts';
import { checkRules } from './check-rules.ts';
import { stricterPolicy } from './stricter-policy.ts';

const tools = ['bash', 'edit', 'write_file', 'web_fetch', 'task', 'read_file'];
const stricter = (own: readonly unknown[], more: { hold?: string[]; deny?: string[] }): PolicyRule[] =>
  stricterPolicy(policySchema.parse({ rules: own }), { hold: [], deny: [], tools, ...more }).rules;
const action = (own: readonly unknown[], of: Parameters<typeof judge>[1]) =>
  judge({ run: rulesOf('run', own), operator: [] }, of).action;

test('no call gets a milder verdict, a held tool is held and a denied one denied', () => {
  const some = fc.uniqueArray(fc.constantFrom(...tools), { maxLength: 3 });
  fc.assert(
    fc.property(rules, some, some, facts, (own, hold, deny, given) => {
      const more = stricter(own, { hold, deny });
      const strict = strictness[action(more, given)];
      expect(strict).toBeGreaterThanOrEqual(strictness[action(own, given)]);
      if (hold.includes(given.tool)) expect(strict).toBeGreaterThanOrEqual(strictness.hold);
      if (deny.includes(given.tool)) expect(strict).toBe(strictness.deny);
    }),
    { numRuns: 300 },
  );
});

test('a call of another tool keeps its verdict', () => {
  fc.assert(
    fc.property(rules, facts, (own, given) => {
      fc.pre(given.tool !== 'task');
      expect(action(stricter(own, { hold: ['task'] }), given)).toBe(action(own, given));
    }),
    { numRuns: 300 },
  );
});

test('what a rule denies of a held tool stays denied', () => {
  const own = [
    { match: { tool: 'bash', command: { program: 'npm' } }, action: 'allow' },
    { match: { tool: 'bash', command: { program: 'curl' } }, action: 'deny' },
    { match: { tool: ['edit', 'bash'] }, action: 'allow' },
  ];
  const held = stricter(own, { hold: ['bash'] });
  expect(action(held, bash(command('npm test')))).toBe('hold');
  expect(action(held, bash(command('curl a')))).toBe('deny');
  expect(action(held, bash(command('ls')))).toBe('hold');
  expect(action(held, call({ tool: 'edit' }))).toBe('allow');
});

test.each([
  ['an allow rule for everything', [{ match: {}, action: 'allow' }]],
  ['a rule that denies the tool already', [{ match: { tool: 'bash' }, action: 'deny' }]],
  ['a rule that holds everything', [{ match: {}, action: 'hold' }]],
])('makes no rule that never decides: %s', (_, own) => {
  expect(checkRules(stricter(own, { hold: ['bash', 'edit'], deny: ['task'] }))).toEqual([]);
});
