import type { PolicyAction } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { commandFacts } from '../judge/command-facts.ts';
import type { BoundPolicies } from '../judge/judge.ts';
import { bash, call, rulesOf } from '../testing/facts.ts';
import { attention } from './attention.ts';
import { type ProposedRules, proposeRules } from './propose-rules.ts';
import type { RecordedCall } from './recorded-call.ts';

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
const propose = (calls: RecordedCall[]): ProposedRules[] =>
  [...proposeRules(calls, { policiesOf: () => bound() })].filter((one) => one !== undefined);
const line = (text: string) => bash(commandFacts(text));

test('newly allowed calls come first, calls refused by people before the others', () => {
  const facts = line('git push');
  const changed: [RecordedCall, PolicyAction][] = [
    [recorded(facts, 'allow'), 'deny'],
    [recorded(facts, 'hold', 'approve'), 'allow'],
    [recorded(facts, 'allow'), 'hold'],
    [recorded(facts, 'hold'), 'allow'],
    [recorded(facts, 'hold', 'reject'), 'allow'],
    [recorded(facts, 'deny'), 'allow'],
  ];
  const order = changed.toSorted((a, b) => attention(...b) - attention(...a)).map((one) => changed.indexOf(one));
  expect(order).toEqual([5, 4, 3, 1, 2, 0]);
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
  const proposed = propose(calls);
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
  const [proposed] = propose(calls);
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
    expect(propose([...approved, refused])).toEqual([]);
  }
  expect(propose(approved.slice(1))).toEqual([]);
});
