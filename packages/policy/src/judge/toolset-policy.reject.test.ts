import { type PolicyRule, policySchema, type ToolsetRules } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { CallFacts } from '../match/call-facts.ts';
import { describeTouches } from './command-facts.ts';
import { compilePolicy, toolsetPolicy } from './compile-policy.ts';
import { explain } from './explain.ts';
import { type BoundPolicies, judge } from './judge.ts';

const noSudo = { name: 'no-sudo', match: { command: { program: 'sudo' } }, action: 'deny', surely: true } as const;

const callOf = (command: string): CallFacts => ({
  ...{ toolset: 'shell', tool: 'run', effect: 'workspace', risk: 'high', args: { command }, labels: {} },
  touches: describeTouches({ paths: [], hosts: [], command }),
});
function bound(own: object[], { rules = [] as PolicyRule[], asks = [] as string[], operator = [] as object[] }) {
  const policyOf = (document: object[]) => compilePolicy(policySchema.parse({ rules: document }));
  return {
    run: { name: 'run', policy: policyOf(own) },
    operator: operator.length === 0 ? [] : [{ name: 'operator', policy: policyOf(operator) }],
    toolset: toolsetPolicy('shell', { rules, asks }),
  } satisfies BoundPolicies;
}
const actions = (policies: BoundPolicies, ...lines: string[]) =>
  lines.map((line) => judge(policies, callOf(line)).action);
const allow = (match: object) => ({ match, action: 'allow' });

test('a rule of the toolset binds under every policy, and the verdict names it', () => {
  const policies = bound([allow({ tool: 'run' })], { rules: [noSudo], operator: [allow({})] });
  expect(actions(policies, 'ls', './pseudo', 'echo sudo')).toEqual(['allow', 'allow', 'allow']);
  const refused = ['sudo id', 'ls; env sudo id', 'echo $(/usr/bin/sudo id)', 'A=1 sudo id', 'x=$(date) ./sudo'];
  expect(actions(policies, ...refused)).toEqual(refused.map(() => 'deny'));
  expect(judge(policies, callOf('ls && sudo id'))).toMatchObject({
    rule: { policy: 'toolset:shell', name: 'no-sudo', index: 0 },
    part: { kind: 'command', detail: 'sudo id' },
    reason: 'rule 1 (no-sudo) of the toolset shell: deny',
  });
});

test('a rule about what surely matches leaves what only may match to the others', () => {
  const { surely: _, ...always } = noSudo;
  expect(actions(bound([allow({})], { rules: [noSudo] }), '$X id', '$X id | sudo tee')).toEqual(['allow', 'deny']);
  expect(actions(bound([allow({})], { rules: [always] }), '$X id')).toEqual(['deny']);
});

test('a question is answered by a rule that names the tool, part by part, and by no other', () => {
  const asks = ['run'];
  const status = allow({ tool: 'run', command: { argv: ['git', 'status'] } });
  expect(actions(bound([], { asks }), 'ls')).toEqual(['hold']);
  expect(actions(bound([allow({})], { asks }), 'ls')).toEqual(['hold']);
  expect(actions(bound([allow({ tool: 'r*' }), allow({ tool: '*' })], { asks }), 'ls')).toEqual(['hold']);
  expect(actions(bound([allow({ command: { program: 'ls' } })], { asks }), 'ls')).toEqual(['hold']);
  const named = [
    'git status',
    'git push',
    'git status && x',
    'git status; git push',
    'git status $X',
    'x=1 git status',
  ];
  expect(actions(bound([status], { asks }), ...named)).toEqual(['allow', 'hold', 'hold', 'hold', 'hold', 'hold']);
  expect(actions(bound([], { asks, operator: [allow({ tool: 'run' })] }), 'ls')).toEqual(['allow']);
  expect(actions(bound([{ match: { tool: 'run' }, action: 'deny' }], { asks }), 'ls')).toEqual(['deny']);
});

test('terms of a rule that holds and names the tool are not changed by the question', () => {
  const policies = bound([{ match: { tool: 'run' }, action: 'hold', on_expiry: 'allow' }], { asks: ['run'] });
  expect(judge(policies, callOf('ls'))).toMatchObject({ rule: { policy: 'run' }, on_expiry: 'allow' });
});

test('an explanation has the rules of the toolset and says why a question is not asked', () => {
  const policies = bound([allow({ tool: 'run' })], { rules: [noSudo], asks: ['run'] });
  const [part] = explain(policies, callOf('ls')).parts;
  expect(part?.policies.at(-1)).toMatchObject({
    name: 'toolset:shell',
    rules: [
      { name: 'no-sudo', outcome: 'no_match' },
      { name: 'asks-run', outcome: 'no_match', because: [{ detail: expect.stringContaining('names the tool') }] },
    ],
  });
  const asked = explain(bound([], { rules: [noSudo], asks: ['run'] }), callOf('ls')).parts[0];
  expect(asked?.policies.at(-1)?.rules[1]).toMatchObject({ outcome: 'decides', action: 'hold' });
});

test('what a toolset lets run by itself is not held by the built-in rules, and by all others', () => {
  const post = (host: string, more: Partial<CallFacts> = {}): CallFacts => ({
    ...{ toolset: 'web', tool: 'post', effect: 'external', risk: 'low', args: {}, labels: {} },
    ...{ touches: describeTouches({ paths: [], hosts: [host] }), ...more },
  });
  const auto = [{ match: { tool: 'post', hosts: ['a.example'] }, action: 'allow' as const }];
  const under = (more: Partial<ToolsetRules>, ...rules: PolicyRule[]) => ({
    run: { name: 'run', policy: compilePolicy({ rules }) },
    operator: [],
    toolset: toolsetPolicy('web', { rules: [], asks: [], auto, ...more }),
  });
  const action = (policies: BoundPolicies, facts: CallFacts) => judge(policies, facts).action;
  expect(action(under({}), post('a.example:443'))).toBe('allow');
  expect(action(under({}), post('b.example:443'))).toBe('hold');
  expect(action(under({}), post('a.example:443', { tool: 'put' }))).toBe('hold');
  const both = describeTouches({ paths: [], hosts: ['a.example:443', 'b.example:443'] });
  expect(action(under({}), post('', { touches: both }))).toBe('hold');
  expect(action(under({}, { match: { effect: 'external' }, action: 'hold' }), post('a.example:443'))).toBe('hold');
  expect(action(under({ asks: ['post'] }), post('a.example:443'))).toBe('hold');
  const killing = describeTouches({ paths: [], hosts: [], command: 'rm -rf /' });
  const all = [{ match: { tool: 'post' }, action: 'allow' as const }];
  expect(action(under({ auto: all }), post('', { touches: killing }))).toBe('deny');
  const explained = explain(under({}), post('a.example:443'));
  expect(explained.parts[0]?.policies.map(({ name }) => name)).toEqual(['run', 'toolset:web']);
});
