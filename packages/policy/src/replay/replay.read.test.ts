import { expect, test } from 'vitest';
import { commandFacts } from '../judge/command-facts.ts';
import type { BoundPolicies } from '../judge/judge.ts';
import { bash, call, rulesOf } from '../testing/facts.ts';
import { proposeRules } from './propose-rules.ts';
import type { RecordedCall } from './recorded-call.ts';
import { replayCalls } from './replay-calls.ts';

const bound = (...rules: unknown[]): BoundPolicies => ({ run: rulesOf('run', rules), operator: [] });
let steps = 0;
const recorded = (
  facts: RecordedCall['facts'],
  action: RecordedCall['action'],
  kind?: 'approve' | 'reject' | 'edit',
): RecordedCall => {
  const decision = kind && { kind, by: 'ada', at: '2026-01-01T00:00:00.000Z' };
  return { run_id: 'run_1', step_id: `step_${++steps}`, facts, action, decision };
};
const line = (text: string) => bash(commandFacts(text));

test('what would newly run comes first, and what people refused before that', () => {
  const calls = [
    recorded(line('git push origin main'), 'hold', 'approve'),
    recorded(line('git push --force'), 'hold', 'reject'),
    recorded(line('npm test'), 'allow'),
    recorded(line('curl a.example'), 'allow'),
    recorded(line('ls'), 'allow'),
  ];
  const rules = [
    { match: { command: { argv: ['git', 'push', '**'] } }, action: 'allow' },
    { match: { command: { program: 'npm' } }, action: 'hold' },
    { match: { command: { program: 'curl' } }, action: 'deny' },
  ];
  const replay = replayCalls(calls, () => bound(...rules));
  const steps = (list: { call: RecordedCall }[]) => list.map(({ call }) => calls.indexOf(call));
  expect(steps(replay.newly_allowed)).toEqual([1, 0]);
  expect(steps(replay.newly_held)).toEqual([2]);
  expect(steps(replay.newly_denied)).toEqual([3]);
  expect(replay.unchanged).toBe(1);
});

test('the same policy changes nothing', () => {
  const facts = ['rm a', 'npm test', 'rm -rf /', 'git push'].map(line);
  const calls = facts.map((each, index) =>
    recorded(each, (['hold', 'allow', 'deny', 'hold'] as const)[index] ?? 'hold'),
  );
  expect(replayCalls(calls, () => bound())).toEqual({
    newly_allowed: [],
    newly_held: [],
    newly_denied: [],
    unchanged: 4,
  });
});

test('rules are proposed for what people always approved', () => {
  const calls = [
    ...['git push origin a', 'git push origin b', 'npm test && git push'].map((text) =>
      recorded(line(text), 'hold', 'approve'),
    ),
    ...['a', 'b', 'c'].map((name) => {
      return recorded(
        call({ tool: 'delete', paths: [{ path: `docs/${name}.md`, access: 'delete' }] }),
        'hold',
        'approve',
      );
    }),
    ...['sudo ls', 'sudo ls', 'sudo ls'].map((text) => recorded(line(text), 'hold', 'approve')),
    recorded(line('rm x'), 'hold', 'approve'),
  ];
  const proposed = proposeRules(calls, { policiesOf: () => bound() });
  expect(proposed.map(({ rules, calls: covered }) => [rules, covered.length])).toEqual([
    [
      [
        {
          match: { toolset: 'holdpoint', tool: 'bash', effect: 'workspace', command: { argv: ['git', 'push', '**'] } },
          action: 'allow',
        },
      ],
      3,
    ],
    [
      [
        {
          match: {
            toolset: 'holdpoint',
            tool: 'delete',
            effect: 'workspace',
            paths: { globs: ['docs/*'], access: 'delete' },
          },
          action: 'allow',
        },
      ],
      3,
    ],
    [
      [
        {
          match: { toolset: 'holdpoint', tool: 'bash', effect: 'workspace', command: { argv: ['sudo', 'ls'] } },
          action: 'allow',
        },
      ],
      3,
    ],
  ]);
  expect(proposed[0]?.summary).toBe('approved 3 times, never refused; this rule would have let these calls through');
});

test('a command with a network needs a rule for itself and one for its host', () => {
  const calls = ['a', 'b', 'c'].map((name) =>
    recorded(
      bash(commandFacts(`npm install ${name}`), { effect: 'external', hosts: ['r.example:443'] }),
      'hold',
      'approve',
    ),
  );
  const [proposed] = proposeRules(calls, { policiesOf: () => bound() });
  expect(proposed?.rules.map(({ match }) => match.command ?? match.hosts)).toEqual([
    { argv: ['npm', 'install', '**'] },
    ['r.example:443'],
  ]);
  expect(proposed?.summary).toContain('these rules');
});

test('nothing is proposed that a refused call would pass', () => {
  const approved = ['git push a', 'git push b', 'git push c'].map((text) => recorded(line(text), 'hold', 'approve'));
  for (const kind of ['reject', 'edit'] as const) {
    const refused = recorded(line('ls && git push --force'), 'hold', kind);
    expect(proposeRules([...approved, refused], { policiesOf: () => bound() })).toEqual([]);
  }
  expect(proposeRules(approved.slice(1), { policiesOf: () => bound() })).toEqual([]);
});
