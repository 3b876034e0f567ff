import type { Effect } from '@holdpoint/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import {
  captureTask,
  deferAttempt,
  holdForCapture,
  loseTask,
  recordConnection,
  retryAttempt,
  runField,
  settleAttempt,
  startAttempt,
  startTask,
  stepField,
  type Transition,
} from '../domain/index.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { handleWorkspace } from '../handlers/handle-workspace.ts';
import { append, readLog, readRun, readStep, readTasks } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { calm } from '../testing/deliver-all.ts';
import { type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { startTestEngine, type TestEngine } from '../testing/real-redis.ts';
import { soundLog } from '../testing/sound-log.ts';

// A worker that was frozen and continues with an old state must not append to the log. Each of these is one such append.

let engine: TestEngine;
let deps: InMemoryWorker['deps'];
beforeAll(async () => {
  engine = await startTestEngine();
  ({ deps } = inMemoryWorker(engine));
});
afterAll(() => engine.stop());

const lost = { code: 'EWORKERLOST', message: 'lost' };

/** A run with one step that is queued. */
async function queued(effect: Effect): Promise<{ runId: string; stepId: string }> {
  const { runId } = await submitRun(deps, { spec: specOf([[{ args: { effect } }]]), by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  return { runId, stepId: (await listSteps(deps, runId)).steps[0]?.id ?? '' };
}
async function seen({ runId, stepId }: { runId: string; stepId: string }) {
  const found = await readStep(deps.redis, runId, stepId);
  if (!found) throw new Error('there is no such step');
  return found;
}
async function refused(runId: string, transition: Transition, field: string): Promise<void> {
  const before = await readLog(deps.redis, runId, { limit: 1000 });
  expect(await append(deps, runId, transition)).toMatchObject({ ok: false, field });
  expect(await readLog(deps.redis, runId, { limit: 1000 })).toEqual(before);
}
const must = async (runId: string, transition: Transition): Promise<void> =>
  expect(await append(deps, runId, transition)).toMatchObject({ ok: true });
const result = (attempt: number) => ({ attempt, status: 'succeeded' as const, duration_ms: 1 });
const connection = {
  ...{ host: 'a.test', port: 443, address: '192.0.2.1', verdict: 'allowed' as const },
  ...{ bytes_up: 1, bytes_down: 1, duration_ms: 1 },
};

test('of two attempts only the later one is readMessages', async () => {
  const at = await queued('read');
  const before = await seen(at);
  await must(at.runId, startAttempt(before.run, before.step, 'one'));
  const first = await seen(at);
  await must(at.runId, retryAttempt(first.run, first.step, lost, { pause: false }));
  // A worker that read the step before all that, and starts it only now.
  await refused(at.runId, startAttempt(before.run, before.step, 'late'), stepField.attempt(at.stepId).name);
  const again = await seen(at);
  await must(at.runId, startAttempt(again.run, again.step, 'two'));
  const attempt = stepField.attempt(at.stepId).name;
  await refused(at.runId, settleAttempt(at.stepId, result(1)), attempt);
  const until = new Date().toISOString();
  await refused(at.runId, deferAttempt(at.stepId, 1, { until, taskId: deps.newId('task') }), attempt);
  await refused(at.runId, recordConnection(at.stepId, 1, connection), attempt);
  await refused(at.runId, retryAttempt(first.run, first.step, lost, { pause: false }), attempt);
  await must(at.runId, settleAttempt(at.stepId, result(2)));
  await soundLog(deps, at.runId);
});

test('nothing starts on a tree that was taken over, or is to be', async () => {
  const at = await queued('workspace');
  const before = await seen(at);
  await must(at.runId, startAttempt(before.run, before.step, 'one'));
  const first = await seen(at);
  await must(at.runId, retryAttempt(first.run, first.step, lost, { pause: false }));
  const due = await seen(at);
  expect(due.run.restore).toBe('due');
  await refused(at.runId, startAttempt(due.run, due.step, 'two'), runField.restore.name);
  await handleWorkspace(deps, { run_id: at.runId }, calm());
  const now = await seen(at);
  expect(now.run.lease).toBe(due.run.lease + 1);
  await refused(at.runId, startAttempt({ ...now.run, lease: due.run.lease }, now.step, 'late'), runField.lease.name);
  await must(at.runId, startAttempt(now.run, now.step, 'two'));
  await soundLog(deps, at.runId);
});

test('only one writer changes the tree', async () => {
  const args = { effect: 'workspace', background: 'sleep' };
  const spec = specOf([[{ args }], [{ args: { effect: 'workspace' } }]]);
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const run = async () => {
    const found = await readRun(deps.redis, runId);
    if (!found) throw new Error('there is no such run');
    return found;
  };
  const task = async () => {
    const [found] = await readTasks(deps.redis, runId);
    if (!found) throw new Error('there is no such task');
    return found;
  };
  // The step that begins it is through, and the next one is queued.
  const [first] = (await listSteps(deps, runId)).steps;
  await handleStep(deps, { run_id: runId, step_id: first?.id ?? '' }, calm());
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  const second = (await listSteps(deps, runId)).steps.find(({ status }) => status === 'queued');
  const at = { runId, stepId: second?.id ?? '' };
  await must(runId, startTask(await run(), await task(), 'one'));
  const { step } = await seen(at);
  await must(runId, startAttempt(await run(), step, 'two'));
  await refused(runId, loseTask(await run(), await task(), 'lost'), runField.writer.name);
  await must(runId, {
    if: [],
    events: [{ type: 'task.exited', data: { task_id: (await task()).id, status: 'completed', exit_code: 0 } }],
  });
  await refused(runId, holdForCapture(await run(), await task()), runField.writer.name);
  const left = { snapshot: 'd'.repeat(40), parent: (await run()).snapshot ?? '', files_changed: 1, skipped: 0 };
  await must(runId, settleAttempt(at.stepId, { ...result(1), snapshot: left }));
  const earlier = await run();
  await must(runId, holdForCapture(earlier, await task()));
  const snapshot = { snapshot: 'f'.repeat(40), files_changed: 1, skipped: 0 };
  await refused(
    runId,
    captureTask({ ...earlier, snapshot: 'e'.repeat(40) }, await task(), snapshot),
    runField.snapshot.name,
  );
  await refused(
    runId,
    startAttempt(await run(), { ...step, status: 'succeeded', attempt: 1 }, 'three'),
    runField.writer.name,
  );
  await must(runId, captureTask(earlier, await task(), snapshot));
  await soundLog(deps, runId);
});
