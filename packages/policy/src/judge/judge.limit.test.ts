import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkRules } from '../document/check-rules.ts';
import { parsePolicy, parsePolicyValue } from '../document/parse-policy.ts';
import type { CallFacts } from '../match/call-facts.ts';
import { heldParts } from '../replay/propose-rules.ts';
import { type AnyRule, commandLine, facts, rule, rules } from '../testing/arbitrary.ts';
import { rulesOf } from '../testing/facts.ts';
import { commandFacts } from './command-facts.ts';
import { explain } from './explain.ts';
import { judge, strictness } from './judge.ts';

const bound = (own: readonly AnyRule[], operator: readonly AnyRule[][] = []) => ({
  run: rulesOf('run', own),
  operator: operator.map((each) => rulesOf('operator', each)),
});
const action = (own: readonly AnyRule[], call: CallFacts) => judge(bound(own), call).action;

/** Each part of a call as a call of its own. */
const splitCall = (call: CallFacts): CallFacts[] => {
  const { paths, commands, hosts } = call.touches;
  const none = { paths: [], commands: [], hosts: [] };
  return [
    ...(commands === 'unparsed' ? [{ ...none, commands }] : commands.map((one) => ({ ...none, commands: [one] }))),
    ...paths.map((one) => ({ ...none, paths: [one] })),
    ...hosts.map((one) => ({ ...none, hosts: [one] })),
  ].map((touches) => ({ ...call, touches }));
};

test('a call is never allowed when a part of it is held or denied', () => {
  fc.assert(
    fc.property(rules, facts, (own, call) => {
      const whole = strictness[action(own, call)];
      for (const part of splitCall(call)) {
        // A rule for commands or paths alone covers an external effect only beside a host, which has its own verdict.
        if (call.effect === 'external' && part.touches.hosts.length === 0 && call.touches.hosts.length > 0) continue;
        expect(whole).toBeGreaterThanOrEqual(strictness[action(own, part)]);
      }
    }),
    { numRuns: 500 },
  );
});

test('a compound line is at least as strict as each of its commands', () => {
  fc.assert(
    fc.property(rules, commandLine, commandLine, facts, (own, first, second, call) => {
      const judged = (line: string) => {
        const touches = { paths: [], commands: commandFacts(line), hosts: [] };
        return strictness[action(own, { ...call, touches })];
      };
      expect(judged(`${first} ; ${second}`)).toBeGreaterThanOrEqual(judged(first));
      expect(judged(`(${first}) && { ${second} ; }`)).toBeGreaterThanOrEqual(judged(first));
    }),
    { numRuns: 300 },
  );
});

test('another deny rule never allows more', () => {
  fc.assert(
    fc.property(rules, rule, fc.nat(6), facts, (own, added, at, call) => {
      const more = own.toSpliced(at, 0, { ...added, action: 'deny' });
      expect(strictness[action(more, call)]).toBeGreaterThanOrEqual(strictness[action(own, call)]);
    }),
    { numRuns: 500 },
  );
});

test('an operator only makes verdicts stricter', () => {
  fc.assert(
    fc.property(rules, rules, facts, (own, operator, call) => {
      const { action: strict } = judge(bound(own, [operator]), call);
      expect(strictness[strict]).toBeGreaterThanOrEqual(strictness[action(own, call)]);
    }),
  );
});

test('the order of rules that never match the same part does not matter', () => {
  const apart: AnyRule['match'][] = [
    { tool: 'bash', command: { program: 'git' } },
    { tool: 'bash', command: { program: 'npm' } },
    { tool: 'edit', paths: ['src/**'] },
    { tool: 'edit', paths: ['dist/**'] },
    { tool: 'task' },
  ];
  const actions = fc.array(fc.constantFrom('allow' as const, 'hold' as const, 'deny' as const), {
    minLength: 5,
    maxLength: 5,
  });
  // An unknown word may match two of these rules.
  const known = facts.filter(({ touches: { commands } }) => {
    return commands !== 'unparsed' && commands.every(({ words }) => words.every((word) => !word.includes(null)));
  });
  const plain = known.filter(({ touches: { paths } }) => paths.every(({ recursive }) => recursive !== true));
  fc.assert(
    fc.property(actions, fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }), plain, (all, order, call) => {
      const own = apart.map((match, index): AnyRule => ({ match, action: all[index] ?? 'hold' }));
      const shuffled = order.map((index) => own[index]!);
      expect(action(shuffled, call)).toBe(action(own, call));
    }),
    { numRuns: 300 },
  );
});

test('an explanation names the rule of the verdict for one of the parts', () => {
  fc.assert(
    fc.property(rules, rules, facts, (own, operator, call) => {
      const { verdict, parts } = explain(bound(own, [operator]), call);
      expect(verdict).toEqual(judge(bound(own, [operator]), call));
      const deciding = parts.flatMap(({ policies }) =>
        policies.flatMap(({ name, rules: all }) => {
          return all.filter(({ outcome }) => outcome === 'decides').map((one) => `${name} ${one.index} ${one.action}`);
        }),
      );
      expect(deciding).toContain(`${verdict.rule?.policy} ${verdict.rule?.index} ${verdict.action}`);
      if (verdict.action === 'allow') expect(heldParts(bound(own, [operator]), call)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test('no document and no command line crashes the parser, the checks or the judge', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), facts, (text, call) => {
      parsePolicy(text);
      const commands = commandFacts(text);
      judge(bound([]), { ...call, touches: { ...call.touches, commands } });
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.jsonValue(), rules, (value, own) => {
      parsePolicyValue(value);
      const parsed = parsePolicyValue({ rules: own });
      if (parsed.ok) checkRules(parsed.document.rules);
    }),
    { numRuns: 300 },
  );
});
