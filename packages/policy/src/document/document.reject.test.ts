import { expect, test } from 'vitest';
import { checkRules } from './check-rules.ts';
import { parsePolicy, parsePolicyValue, readYaml } from './parse-policy.ts';

const tools = [
  { toolset: 'holdpoint', name: 'bash', effect: 'by run', risk: 'medium' },
  { toolset: 'holdpoint', name: 'edit', effect: 'workspace', risk: 'low' },
  { toolset: 'holdpoint', name: 'read_file', effect: 'read', risk: 'low' },
] as const;

const problems = (...rules: object[]) => {
  const parsed = parsePolicyValue({ rules: rules.map((rule) => ({ action: 'hold', ...rule })) });
  return parsed.ok ? checkRules(parsed.document.rules, tools) : parsed.problems;
};

test.each([
  ['an unknown field', { match: { tol: 'edit' } }, '/match/tol', 'Nearest: tool'],
  [
    'an unknown field of a command',
    { match: { command: { programm: 'a' } } },
    '/match/command/programm',
    'Nearest: program',
  ],
  ['an unknown test', { match: { args: { '/a': { globb: 'x' } } } }, '/match/args/~1a/globb', 'Nearest: glob'],
  ['an unknown effect', { match: { effect: 'reed' } }, '/match/effect', 'Nearest: read'],
  ['an unknown effect in a list', { match: { effect: ['reed'] } }, '/match/effect/0', 'Nearest: read'],
  [
    'an unknown access',
    { match: { paths: { globs: ['a'], access: 'wite' } } },
    '/match/paths/access',
    'Nearest: write',
  ],
  ['an agent that decides', { match: {}, deciders: { kinds: ['agent'] } }, '/deciders/kinds/0', 'person, service'],
  ['an empty list', { match: { tool: [] } }, '/match/tool', '>=1'],
  ['no paths', { match: { paths: [] } }, '/match/paths', '>=1'],
  ['an unknown tool', { match: { tool: 'Edti' } }, '/match/tool', 'Nearest: edit'],
  ['an unknown tool in a list', { match: { tool: ['edit', 'bsh'] } }, '/match/tool/1', 'Nearest: bash'],
  ['a glob for no tool', { match: { tool: 'web_*' } }, '/match/tool', 'no tool that matches'],
  ['an unknown toolset', { match: { toolset: 'holdpont' } }, '/match/toolset', 'Nearest: holdpoint'],
  [
    'an effect that the tool never has',
    { match: { tool: 'edit', effect: 'external' } },
    '/match/effect',
    'say workspace',
  ],
  ['a risk that the tool never has', { match: { tool: 'e*', risk: 'high' } }, '/match/risk', 'say low'],
  ['a command that reads', { match: { effect: 'read', command: { program: 'ls' } } }, '/match/command', 'class safe'],
  [
    'a write that reads',
    { match: { effect: 'read', paths: { globs: ['a'], access: 'write' } } },
    '/match/paths/access',
    'never',
  ],
  ['paths and hosts', { match: { paths: ['a'], hosts: ['a.example'] } }, '/match/hosts', 'one rule for paths'],
  ['a command without a field', { match: { command: {} } }, '/match/command', 'names nothing'],
  [
    'what cannot be parsed, by words',
    { match: { command: { class: 'unparsed', program: 'a' } } },
    '/match/command',
    'no words',
  ],
  ['terms without a hold', { match: {}, action: 'deny', expires_s: 5 }, '/expires_s', 'deny'],
  ['a passkey without a hold', { match: {}, action: 'allow', confirm: 'passkey' }, '/confirm', 'allow'],
  ['a passkey or silence', { match: {}, confirm: 'passkey', on_expiry: 'allow' }, '/on_expiry', 'without a passkey'],
  ['another proof', { match: {}, confirm: 'password' }, '/confirm', 'passkey'],
  ['a reminder after the end', { match: {}, expires_s: 5, remind_after_s: 5 }, '/remind_after_s', 'expired'],
  ['a host that is none', { match: { hosts: ['https://a.example/'] } }, '/match/hosts/0', 'not a host'],
  ['a glob without its end', { match: { paths: ['a', 'b[c'] } }, '/match/paths/1', 'without its `]`'],
  ['a path in a long spelling', { match: { paths: ['src/../a'] } }, '/match/paths/0', 'shortest'],
  ['too many alternatives', { match: { tool: '{a,b}'.repeat(7) } }, '/match/tool', '64 alternatives'],
  ['no pointer', { match: { args: { path: 'a' } } }, '/match/args/path', 'begin it with a slash'],
  ['a look-ahead', { match: { command: { regex: '(?=a)b' } } }, '/match/command/regex', 'linear time'],
  ['a back-reference', { match: { args: { '/a': { regex: '(a)\\1' } } } }, '/match/args/~1a', 'linear time'],
  ['a huge repetition', { match: { command: { regex: '(a{50}){50}' } } }, '/match/command/regex', ''],
])('refuses %s', (_what, rule, pointer, words) => {
  expect(problems(rule)).toEqual([{ pointer: `/rules/0${pointer}`, detail: expect.stringContaining(words) }]);
});

test.each([
  ['the same', { tool: 'edit' }, { tool: 'edit' }],
  ['every call', {}, { paths: ['a'] }],
  ['a list', { tool: ['edit', 'bash'] }, { tool: 'edit', risk: 'low' }],
  ['a glob', { tool: 'e*' }, { tool: 'edit' }],
  ['a folder', { paths: ['src/**'] }, { paths: ['src/a/*.ts'] }],
  ['any access', { paths: ['src/**'] }, { paths: { globs: ['src/a'], access: 'write' } }],
  ['a program', { command: { program: 'git' } }, { command: { program: 'git', argv: ['git', 'push'] } }],
  ['hosts', { hosts: ['*.example.com'] }, { hosts: ['a.example.com:443'] }],
])('refuses a rule behind one that is wider: %s', (_what, first, second) => {
  expect(problems({ match: first }, { match: second })).toEqual([
    { pointer: '/rules/1/match', detail: expect.stringContaining('rule 1 before it') },
  ]);
});

test.each([
  ['another tool', { tool: 'edit' }, { tool: 'bash' }],
  ['a narrower tool', { tool: 'edit' }, { tool: 'e*' }],
  ['a condition more', { tool: 'edit', risk: 'low' }, { tool: 'edit' }],
  ['one access', { paths: { globs: ['src/**'], access: 'write' } }, { paths: ['src/**'] }],
  ['another folder', { paths: ['src/*'] }, { paths: ['src/a/b'] }],
  ['other hosts', { hosts: ['*.example.com:443'] }, { hosts: ['example.com:443', 'a.example.com:443'] }],
])('takes a rule behind one that is not wider: %s', (_what, first, second) => {
  expect(problems({ match: first }, { match: second })).toEqual([]);
});

test('reads YAML and JSON, and says where a text is wrong', () => {
  expect(parsePolicy('rules: [{match: {}, action: hold}]\n')).toEqual(
    parsePolicy('{"rules":[{"match":{},"action":"hold"}]}'),
  );
  const detail = (text: string) => {
    const parsed = parsePolicy(text);
    return parsed.ok ? undefined : parsed.problems[0];
  };
  expect(detail('rules: [\n')).toMatchObject({ pointer: '', detail: expect.stringMatching(/^line 2, column 1: /) });
  expect(detail('rules: []\nrules: []\n')?.detail).toContain('line 2');
  expect(
    detail('a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]')?.detail,
  ).toContain('alias');
  expect(detail(`rules: [${' '.repeat(1024 * 1024)}]`)?.detail).toContain('larger');
  expect(detail('')?.pointer).toBe('');
});

test('a key that stands twice is named with its place, at any depth', () => {
  const text = 'rules:\n  - name: a\n    match: { tool: bash }\n    action: hold\n    name: b\n';
  expect(readYaml(text)).toEqual({ ok: false, detail: 'line 5, column 5: Map keys must be unique' });
  expect(readYaml('1: a\n"1": b\n')).toMatchObject({ ok: false });
});

test('a map of very many keys is read in the time of its length', () => {
  const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n');
  expect(readYaml(text)).toMatchObject({ ok: true });
});
