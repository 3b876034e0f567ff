import { ApiError } from '@holdpoint/client';
import type { RunDetail, StepDetail, Task, Worker } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { readTop } from './read-top.ts';
import { topText } from './top-text.ts';

const runId = (n: number) => `run_00000000-0000-7000-8000-00000000000${n}`;
const stepId = (n: number) => `step_00000000-0000-7000-8000-00000000000${n}`;
const taskId = 'task_00000000-0000-7000-8000-000000000001';
const now = Date.parse('2026-01-01T00:10:00.000Z');

const worker = (id: string, host: string, running: string[]): Worker => ({
  ...{ id, host, pid: 1, version: null, started_at: '2026-01-01T00:00:00.000Z', concurrency: 4, active: [] },
  ...{ last_seen_at: '2026-01-01T00:00:00.000Z', capabilities: null, running },
  slots: { steps: 4, tasks: 2, turns: 8 },
});

const client = {
  listWorkers: async () => [
    worker('one-1', 'one', [`${runId(1)}/${stepId(1)}`, `${runId(1)}/${taskId}`, `${runId(2)}/turn 3`]),
    worker('two-1', 'two', [`${runId(3)}/${stepId(3)}`, `${runId(4)}/workspace`]),
  ],
  listQueues: async () => [
    { name: 'turns', backlog: 0, active: 1, parked: 0 },
    { name: 'steps', backlog: 7, active: 2, parked: 3 },
  ],
  stuck: async () => ({
    ...{ repairs: {}, runs: { running: 4, waiting: 3 }, paused: {} },
    ...{ sweep: { last_at: null, overdue: false }, maintenance: { last_at: null, overdue: false } },
  }),
  getRun: async (id: string) => {
    if (id === runId(3) || id === runId(4))
      throw new ApiError({ status: 404, code: 'run_not_found', title: '', type: '', detail: '' } as never);
    const title = id === runId(1) ? 'Fix\u202e the tests' : 'x'.repeat(60);
    return {
      title,
      usage: { cost_usd: id === runId(1) ? 1.239 : 0 },
      started_at: '2026-01-01T00:00:00.000Z',
    } as RunDetail;
  },
  getStep: async (id: string) => {
    if (id !== stepId(1))
      throw new ApiError({ status: 404, code: 'step_not_found', title: '', type: '', detail: '' } as never);
    return { tool: 'bash', attempts: 2, started_at: '2026-01-01T00:08:00.000Z' } as StepDetail;
  },
  getTask: async () => ({ title: 'npm run\nserve', started_at: '2026-01-01T00:00:00.000Z' }) as Task,
};

test('workers, their jobs with the longest first, and what waits', async () => {
  const lines = topText(await readTop(client), { width: undefined, now });
  expect(`${lines.join('\n')}\n`).toMatchInlineSnapshot(`
    "runs: 4 running, 3 waiting
    queues: steps 7 waiting, 3 parked

    HOST  WORKER  STEPS  TASKS  TURNS  LATE
    one   one-1   1/4    1/2    1/8
    two   two-1   1/4    0/2    0/8

    WORKER  RUN                                       TITLE                                     AGE     COST   WHAT           FOR     ATTEMPT
    one-1   run_00000000-0000-7000-8000-000000000001  Fix<U+202E> the tests                     10 min  $1.24  npm run serve  10 min
    one-1   run_00000000-0000-7000-8000-000000000001  Fix<U+202E> the tests                     10 min  $1.24  bash           2 min   2
    one-1   run_00000000-0000-7000-8000-000000000002  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  10 min         turn 3
    two-1   run_00000000-0000-7000-8000-000000000003                                                           step
    two-1   run_00000000-0000-7000-8000-000000000004                                                           workspace
    "
  `);
});

test('a job of another tenant is shown without its tool', async () => {
  const { running } = await readTop(client);
  expect(running.find(({ id }) => id === stepId(3))).toMatchObject({ run_id: runId(3), what: null, attempt: null });
});

test('a worker of an earlier version has its slots for steps, and no jobs', async () => {
  const { running: _, slots: __, ...old } = worker('old', 'one', []);
  const top = await readTop({ ...client, listWorkers: async () => [old] });
  expect(top).toMatchObject({
    running: [],
    workers: [{ slots: { steps: 4, tasks: 0, turns: 0 }, loop_late_ms: null }],
  });
  expect(topText(top, { width: 60, now })).toContain('Nothing runs.');
});

test.each([40, 60, 80])('no line is wider than a terminal of %i columns, and ids are short', async (width) => {
  const lines = topText(await readTop(client), { width, now });
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  expect(lines.join('\n')).toMatch(/ 00000003 /);
});
