import type { RunEvent } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { timeline } from './timeline.ts';

const base = {
  id: 'evt_1',
  run_id: 'run_01a1fb35-688f-7a76-940b-280220709787',
  time: '2026-11-20T23:05:43.825Z',
} as const;
const step = { ...base, step_id: 'step_01a1fb35-688f-7a76-940b-280220709787' } as const;
const approval_id = 'apr_01a1fb35-688f-7a76-940b-280220709787';
const created: RunEvent = {
  ...step,
  seq: 1,
  type: 'step.created',
  data: {
    turn: 1,
    index: 0,
    name: 'tests',
    tool: 'bash',
    args: { json: { command: 'node --test\u001b[2J' } },
    effect: 'workspace',
    risk: 'high',
  },
};

const open = (width = 200) => timeline({ colors: colorsFor(false), width, howToDecide: (id) => [`approve ${id}`] });
const words = (lines: string[]) => lines.map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, '').replace(/ +/g, ' '));

it('names the call of every event of a step', () => {
  const line = open();
  expect(words(line(created))).toEqual(['step.created tests: bash node --test<U+001B>[2J (workspace, high risk)']);
  const failed: RunEvent = {
    ...step,
    seq: 2,
    type: 'step.failed',
    data: { attempt: 1, duration_ms: 1234, error: { code: 'EEXIT', message: 'exit code 1' } },
  };
  expect(words(line(failed))).toEqual(['step.failed tests: bash node --test<U+001B>[2J (1.2 s) EEXIT: exit code 1']);
});

it('adds how to decide a held call', () => {
  const line = open();
  line(created);
  const requested: RunEvent = {
    ...step,
    seq: 2,
    type: 'approval.requested',
    data: {
      approval_id,
      kind: 'action',
      snapshot: 'a'.repeat(40),
      reason: 'rule 1',
      risk: 'high',
      allowed_decisions: ['approve', 'reject'],
      expires_at: base.time,
    },
  };
  expect(words(line(requested))[1]?.trim()).toBe(`approve ${approval_id}`);
});

it('shows a held publish and an undo', () => {
  const line = open();
  const request = { snapshot: 'a'.repeat(40), reason: 'held', risk: 'high', expires_at: base.time } as const;
  const requested: RunEvent = {
    ...{ ...base, seq: 1, type: 'approval.requested' },
    data: { ...request, approval_id, kind: 'publish', allowed_decisions: ['approve'] },
  };
  expect(words(line(requested))).toEqual([
    'approval.requested publish (high risk; held)',
    expect.stringContaining(`approve ${approval_id}`),
  ]);
  const rewound: RunEvent = {
    ...{ ...base, seq: 2, type: 'run.rewound' },
    data: {
      ...{ by: 'admin', to_step: null, turn: 0, steps: [], open: 0, snapshot: 'a'.repeat(40) },
      undone: [{ id: step.step_id }],
    },
  };
  expect(words(line(rewound))).toEqual(['run.rewound 1 step undone by admin: from its beginning']);
});

it('fits the width', () => {
  const succeeded: RunEvent = { ...base, seq: 9, type: 'run.succeeded', data: { message: 'word '.repeat(100) } };
  const [text = ''] = open(100)(succeeded);
  expect(text.length).toBeLessThanOrEqual(100);
  expect(text.endsWith('…')).toBe(true);
});

it('names the target of a publish', () => {
  const published = { type: 'git' as const, path: '/r', branch: 'refs/heads/holdpoint/x', commit: 'c', left_out: [] };
  const event: RunEvent = {
    ...base,
    seq: 3,
    type: 'workspace.published',
    data: { snapshot: 'a'.repeat(40), published },
  };
  expect(words(open()(event))).toEqual(['workspace.published branch refs/heads/holdpoint/x']);
});

it('says which submodules are empty', () => {
  const submodules = ['a', 'b', 'c', 'd'].map((path) => ({ path, commit: 'e'.repeat(40) }));
  const data = { files: 2, bytes: 9, base_commit: 'f'.repeat(40), submodules };
  const event = { ...base, seq: 2, type: 'workspace.materialised', data } as unknown as RunEvent;
  const [line] = words(open(300)(event));
  expect(line).toContain('2 files, 9 bytes of commit ');
  expect(line).toContain('; without the files of its submodules (a, b, c, and 1 more)');
});
