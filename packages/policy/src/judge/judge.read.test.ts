import { type PolicyRule, policySchema } from '@holdpoint/contract';
import { describe, expect, test } from 'vitest';
import { bash, call, command, rulesOf } from '../testing/facts.ts';
import { compilePolicy } from './compile-policy.ts';
import { explain } from './explain.ts';
import { judge } from './judge.ts';

const judged = (rules: unknown[], facts = call({}), operator: unknown[][] = []) =>
  judge({ run: rulesOf('run', rules), operator: operator.map((each) => rulesOf('operator', each)) }, facts);

describe('the built-in rules', () => {
  test.each([
    ['a read', call({ effect: 'read' }), 'allow'],
    ['a write in the workspace', call({ paths: [{ path: 'src/a.ts', access: 'write' }] }), 'allow'],
    ['a deletion', call({ paths: [{ path: 'src/a.ts', access: 'delete' }] }), 'hold'],
    ['a deletion in a build folder', call({ paths: [{ path: './dist/../dist/a.js', access: 'delete' }] }), 'allow'],
    ['a deletion that leaves a build folder', call({ paths: [{ path: 'dist/../src', access: 'delete' }] }), 'hold'],
    [
      'the deletion of a build folder',
      call({ paths: [{ path: 'a/dist/', access: 'delete', recursive: true }] }),
      'allow',
    ],
    ['the deletion of everything', call({ paths: [{ path: '.', access: 'delete', recursive: true }] }), 'hold'],
    ['an external effect', call({ effect: 'external' }), 'hold'],
    ['a build', bash(command('npm run build')), 'allow'],
    ['a build with a network', bash(command('npm ci'), { effect: 'external' }), 'hold'],
    ['sudo', bash(command('sudo apt update')), 'hold'],
    ['sudo in a folder', bash(command('/usr/bin/sudo apt update')), 'hold'],
    ['git reset', bash(command('git -C . reset --hard')), 'hold'],
    ['git status', bash(command('git status')), 'allow'],
    ['git push', bash(command('git push --force')), 'hold'],
    ['git with an unknown word', bash(command('git ?')), 'hold'],
    ['a message of git', bash(command('git commit -m reset')), 'allow'],
    ['an unknown argument of git', bash(command('git log ?')), 'allow'],
    ['an unknown program', bash(command('? a')), 'hold'],
    ['what is catastrophic', bash(command('rm -rf /', 'blocked')), 'deny'],
    ['what cannot be parsed', bash('unparsed'), 'hold'],
    ['a compound with a bad part', bash([command('ls'), command('sudo ls'), command('ls')]), 'hold'],
  ])('%s', (_what, facts, action) => {
    expect(judged([], facts).action).toBe(action);
  });
});

test('the first rule that matches a part decides, and the strictest part wins', () => {
  const rules = [
    { match: { command: { program: 'npm' } }, action: 'allow' },
    { match: { command: { program: 'curl' } }, action: 'deny', name: 'no-curl' },
    { match: { tool: 'bash' }, action: 'hold' },
  ];
  expect(judged(rules, bash(command('npm test'))).action).toBe('allow');
  expect(judged(rules, bash([command('npm test'), command('curl a'), command('ls')]))).toMatchObject({
    action: 'deny',
    reason: "rule 2 (no-curl) of the run's policy: deny",
    rule: { policy: 'run', index: 1, name: 'no-curl' },
    part: { kind: 'command', detail: 'curl a' },
  });
  expect(judged(rules, bash([command('npm test'), command('ls')])).action).toBe('hold');
});

test('a rule that holds or denies an editing tool binds the tools that do its work', () => {
  const write = { paths: [{ path: 'a.ts', access: 'write' as const }] };
  const verdict = (action: string, rule: string | string[], tool: string, toolset = 'holdpoint') =>
    judged([{ match: { tool: rule }, action }], { ...call(write), toolset, tool }).action;
  expect(verdict('hold', 'edit', 'multi_edit')).toBe('hold');
  expect(verdict('deny', ['bash', 'e*'], 'apply_patch')).toBe('deny');
  expect(verdict('deny', 'write_file', 'apply_patch')).toBe('deny');
  expect(verdict('deny', 'write_file', 'multi_edit')).toBe('allow');
  expect(verdict('hold', 'edit', 'multi_edit', 'other')).toBe('allow');
  const paused = [{ match: { effect: 'workspace' }, action: 'hold' }];
  expect(
    judged([{ match: { tool: 'edit' }, action: 'allow' }, ...paused], { ...call(write), tool: 'multi_edit' }).action,
  ).toBe('hold');
});

test('an allow rule needs certainty, other rules apply to what may match', () => {
  const allow = [
    { match: { command: { argv: ['rm', 'dist/**'] } }, action: 'allow' },
    { match: {}, action: 'hold' },
  ];
  expect(judged(allow, bash(command('rm dist/a'))).action).toBe('allow');
  for (const other of [
    'rm dist/../src',
    'rm dist/?',
    'rm ?',
    '? dist/a',
    './rm dist/a',
    '? rm dist/a',
    'rm dist/a b',
    'rm',
  ]) {
    expect(judged(allow, bash(command(other))).action, other).toBe('hold');
  }
  expect(judged(allow, bash({ ...command('rm dist/a'), assigns: true })).action).toBe('hold');
  const deny = [
    { match: { command: { argv: ['rm', '**', 'src/**'] } }, action: 'deny' },
    { match: {}, action: 'allow' },
  ];
  for (const other of ['rm src/a', 'rm -r src/a', '/bin/rm src/a', 'rm ?', '? ?', '?', 'rm src/?', '/bin/? src/a']) {
    expect(judged(deny, bash(command(other))).action, other).toBe('deny');
  }
  for (const other of ['rm a', 'ls src/a', 'ls ?'])
    expect(judged(deny, bash(command(other))).action, other).toBe('allow');
  expect(judged(deny, bash('unparsed')).action).toBe('deny');
});

test('an allow rule for paths or commands means the workspace', () => {
  const rules = [{ match: { paths: ['docs/**'] }, action: 'allow' }];
  const facts = { paths: [{ path: 'docs/a', access: 'write' as const }] };
  expect(judged(rules, call({ ...facts, effect: 'workspace' })).action).toBe('allow');
  expect(judged(rules, call({ ...facts, effect: 'external' })).action).toBe('hold');
});

test('the operator only makes a verdict stricter', () => {
  const allow = [{ match: {}, action: 'allow' }];
  const hold = [{ match: { tool: 'edit' }, action: 'hold' }];
  expect(judged(hold, call({ tool: 'edit' }), [allow]).action).toBe('hold');
  expect(judged(allow, call({ tool: 'edit' }), [[], hold])).toMatchObject({
    action: 'hold',
    rule: { policy: 'operator' },
    reason: "rule 1 of the operator's policy: hold",
  });
  expect(judged(allow, call({ effect: 'external' }), [[]]).action).toBe('allow');
});

test('what the built-in rules deny stays denied, unless the operator allows it', () => {
  const all = { match: {}, action: 'allow' };
  const bashToo = { match: { tool: 'bash' }, action: 'allow' };
  const wipe = bash([command('ls'), command('rm -rf /', 'blocked')]);
  expect(judged([all], wipe)).toMatchObject({
    action: 'deny',
    rule: { policy: 'builtin', name: 'catastrophic' },
    part: { detail: 'rm -rf /' },
  });
  expect(judged([{ ...all, action: 'hold' }], wipe).action).toBe('deny');
  // An operator that says nothing about it allows nothing.
  expect(judged([all], wipe, [[]]).action).toBe('deny');
  expect(judged([all], wipe, [[bashToo]]).action).toBe('allow');
  expect(judged([{ ...all, action: 'hold' }], wipe, [[bashToo]]).action).toBe('hold');
  // Each policy of the operator has to allow it, and each part of the call needs that.
  expect(judged([all], wipe, [[bashToo], []]).action).toBe('deny');
  expect(judged([all], wipe, [[{ match: { command: { program: 'ls' } }, action: 'allow' }]]).action).toBe('deny');
  // A run that says nothing keeps the built-in rules.
  expect(judged([], wipe, [[bashToo]]).action).toBe('deny');
  // Other built-in rules are only for what the run's own do not match.
  expect(judged([all], bash(command('sudo ls'))).action).toBe('allow');
  expect(judged([all], bash('unparsed')).action).toBe('allow');
});

test('an explanation shows the built-in denial that the run cannot lift', () => {
  const all = rulesOf('run', [{ match: {}, action: 'allow' }]);
  const wipe = bash(command('rm -rf /', 'blocked'));
  const names = (operator: unknown[]) =>
    explain({ run: all, operator: operator.map((rule) => rulesOf('operator', [rule])) }, wipe).parts.map(
      ({ policies }) => policies.map(({ name }) => name),
    );
  expect(names([])).toEqual([['run', 'builtin']]);
  expect(names([{ match: {}, action: 'allow' }])).toEqual([['run', 'operator']]);
});

test('rules that hold together add up', () => {
  const rule = (terms: Partial<PolicyRule>) => [{ match: {}, action: 'hold', ...terms }];
  const first = rule({ decisions: ['approve', 'edit'], deciders: { quorum: 2 }, expires_s: 60, on_expiry: 'allow' });
  const second = rule({
    decisions: ['approve'],
    deciders: { names: ['ops-*'] },
    expires_s: 600,
    preview: 'run',
    confirm: 'passkey',
  });
  expect(judged(first, call({}), [second])).toMatchObject({
    decisions: ['approve', 'reject'],
    deciders: [{ quorum: 2 }, { names: ['ops-*'] }],
    expires_s: 60,
    on_expiry: undefined,
    preview: 'run',
    confirm: 'passkey',
  });
});

test('labels, arguments, hosts and the submitter', () => {
  const rules = [
    { match: { labels: { env: 'prod-*' } }, action: 'deny' },
    { match: { args: { '/a~1b': { glob: 'x*z' } } }, action: 'deny' },
    { match: { args: { '/n': 1 } }, action: 'deny' },
    { match: { args: { '': { regex: '"list":\\[1,2\\]' } } }, action: 'deny' },
    { match: { hosts: ['*.example.com:443'] }, action: 'deny' },
    { match: { submitted_by: { kind: 'agent' } }, action: 'deny' },
    { match: {}, action: 'allow' },
  ];
  const by = { submitted_by: { name: 'ada', kind: 'person' as const } };
  const found = (facts: Parameters<typeof call>[0]) => judged(rules, call({ ...by, ...facts })).rule?.index;
  expect(found({ labels: { env: 'prod-eu' } })).toBe(0);
  expect(found({ args: { 'a/b': 'x/y/z' } })).toBe(1);
  expect(found({ args: { n: 1 } })).toBe(2);
  expect(found({ args: { n: '1' } })).toBe(6);
  expect(found({ args: { list: [1, 2] } })).toBe(3);
  expect(found({ hosts: ['API.example.com.'] })).toBe(4);
  expect(found({ hosts: ['*.com:443'] })).toBe(4);
  expect(found({ hosts: ['example.com:443'] })).toBe(6);
  expect(found({ hosts: ['a.example.com:80'] })).toBe(6);
  expect(found({ submitted_by: { name: 'bot', kind: 'agent' } })).toBe(5);
  expect(found({ submitted_by: undefined })).toBe(5);
});

test('a policy is compiled once per content', () => {
  const document = () => policySchema.parse({ rules: [{ match: { tool: 'bash' }, action: 'hold' }] });
  expect(compilePolicy(document())).toBe(compilePolicy(document()));
});
