import type { ToolsetRules } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { commandFacts } from '../../judge/command-facts.ts';
import { toolsetPolicy } from '../../judge/compile-policy.ts';
import { judge, type NamedPolicy } from '../../judge/judge.ts';
import { everydayLines } from '../../testing/everyday-lines.ts';
import { bash, rulesOf } from '../../testing/facts.ts';
import { hostileLines } from '../../testing/hostile-lines.ts';
import { safeLines } from '../../testing/safe-lines.ts';
import { parseCommand } from '../parse-command.ts';

const run = rulesOf('run', [
  ...['cat', 'ls', 'git status', 'test', '\\[', 'printf', 'read', 'coproc', 'echo', 'grep', 'wait', 'mapfile'].map(
    (words) => ({
      match: { command: { argv: [...words.split(' '), '**'] } },
      action: 'allow',
    }),
  ),
  { match: { command: { class: 'safe' } }, action: 'allow' },
  { match: {}, action: 'deny' },
]);
const action = (line: string) => judge({ run, operator: [] }, bash(commandFacts(line))).action;

test.each(hostileLines.misread!)('%j is not allowed', (line) => {
  expect(action(line)).toBe('deny');
});

test.each([...hostileLines.evaluated!, ...hostileLines.variables!])('%j is not allowed', (line) => {
  expect(action(line)).toBe('deny');
});

test.each([...everydayLines, ...safeLines])('%j is read', (line) => {
  expect(parseCommand(line)).toMatchObject({ ok: true });
});

test('a line that is read in two ways meets a denial of a program', () => {
  const denying = rulesOf('run', [
    { match: { command: { program: 'rm' } }, action: 'deny' },
    { match: {}, action: 'allow' },
  ]);
  const under = (line: string) => judge({ run: denying, operator: [] }, bash(commandFacts(line))).action;
  expect(hostileLines.misread!.filter((line) => under(line) !== 'deny')).toEqual([]);
  const allowing = { run: rulesOf('run', [{ match: {}, action: 'allow' }]), operator: [denying] };
  const byOperator = (line: string) => judge(allowing, bash(commandFacts(line))).action;
  expect(hostileLines.misread!.filter((line) => byOperator(line) !== 'deny')).toEqual([]);
  expect(under('ls')).toBe('allow');
});

test('a line that is read in two ways meets the rules of its toolset, and of the operator beside them', () => {
  const allowing = rulesOf('run', [{ match: {}, action: 'allow' }]);
  const denied = { match: { command: { program: 'rm' } }, action: 'deny' } as const;
  const of = (says: ToolsetRules, line: string, operator: NamedPolicy[] = []) =>
    judge({ run: allowing, operator, toolset: toolsetPolicy('shell', says) }, bash(commandFacts(line))).action;
  const lines = [...hostileLines.misread!, ...hostileLines.unreadable!];
  expect(lines.filter((line) => of({ rules: [denied], asks: [] }, line) !== 'deny')).toEqual([]);
  expect(lines.filter((line) => of({ rules: [], asks: ['bash'] }, line) !== 'hold')).toEqual([]);
  // What the toolset lets through by itself is denied by the operator all the same.
  const auto = { rules: [], asks: [], auto: [{ match: { tool: 'bash' }, action: 'allow' as const }] };
  expect(lines.filter((line) => of(auto, line, [rulesOf('operator', [denied])]) !== 'deny')).toEqual([]);
  expect(of({ rules: [denied], asks: [] }, 'ls')).toBe('allow');
});
