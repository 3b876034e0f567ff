import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { placeProblems } from './check-catalog.ts';
import { parsePolicy } from './parse-policy.ts';

const mistakesIn = (text: string) => {
  const parsed = parsePolicy(text);
  return parsed.ok ? [] : placeProblems(text, parsed.problems);
};

test.each([
  ['rules:\n  - match: { tool: bash }\n    action: halt\n', '/rules/0/action', 3, 5],
  ['rules:\n  - match: { tol: bash }\n    action: hold\n', '/rules/0/match/tol', 2, 14],
  ['rules:\n  - action: hold\n', '/rules/0/match', 2, 5],
  ['{"rules": [\n {"match": {"tool": 1},\n  "action": "hold"}]}', '/rules/0/match/tool', 2, 13],
  ['rules: all\n', '/rules', 1, 1],
  ['rules:\n  - a: [\n', '', 3, 1],
  ['', '', 1, 1],
])('places the mistake of %j', (text, pointer, line, column) => {
  expect(mistakesIn(text)).toContainEqual({ pointer, line, column, detail: expect.any(String) });
});

test('the place of a mistake is the line that has the wrong field, however long the policy is', () => {
  const rule = { match: { tool: 'bash' }, action: 'hold' };
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), (before, after) => {
      const rules = [...Array(before).fill(rule), { ...rule, actoin: 'x' }, ...Array(after).fill(rule)];
      const text = stringify({ rules }, { aliasDuplicateObjects: false });
      const [mistake] = mistakesIn(text);
      expect(mistake?.pointer).toBe(`/rules/${before}/actoin`);
      expect(text.split('\n')[(mistake?.line ?? 0) - 1]).toContain('actoin');
    }),
  );
});
