import { expect, test, vi } from 'vitest';
import { requestPause, submitRun } from '../commands/index.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { listSteps } from '../queries/index.ts';
import { calm } from '../testing/deliver-all.ts';
import { inMemoryWorker, specOf } from '../testing/index.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { notificationChannel } from './keys.ts';
import { readStep } from './read-state.ts';
import { takeCachedStep } from './step-cache.ts';

const engine = useTestEngine();
const read = { args: { effect: 'read' } };
const write = { args: { effect: 'workspace' } };

/** A run with its first calls handled, and the next step. */
async function handled(calls: number, plan: Parameters<typeof specOf>[0]) {
  const { deps, executions } = inMemoryWorker(engine);
  const { runId: run_id } = await submitRun(deps, { spec: specOf(plan), by: 'test' });
  const next = async () => (await listSteps(deps, run_id)).steps.at(-1)?.id ?? '';
  await handleTurn(deps, { run_id, turn: 1 }, calm());
  for (let call = 0; call < calls; call++) await handleStep(deps, { run_id, step_id: await next() }, calm());
  return { deps, executions, job: { run_id, step_id: await next() } };
}

test.each([
  [1, [[read], [read]]],
  [2, [[read], [{ name: 'b', ...read }], [write]]],
  [3, [[read], [read], [read], [read]]],
  [3, [[write], [read], [write], [read]]],
])('after %i calls the state that an append leaves is known as Redis has it', async (calls, plan) => {
  const { deps, job } = await handled(calls, plan);
  const cached = takeCachedStep(deps.redis, job);
  expect(cached).toBeDefined();
  expect({ run: cached?.run, step: cached?.step }).toEqual(await readStep(deps.redis, job.run_id, job.step_id));
});

test('a call that reads in a known state is one part with one condition, and asks for no fields', async () => {
  const { deps, job } = await handled(1, [[read], [read], [read]]);
  using sent = vi.spyOn(deps.redis, 'evalsha');
  await handleStep(deps, job, calm());
  const appends = sent.mock.calls.filter((args) => String(args[4]) === notificationChannel(job.run_id));
  expect(appends.map((args) => args.slice(5, 10))).toEqual([['', 1, '', 1, 'seq']]);
});

test('a call in a state that is known no more has no outcome', async () => {
  const { deps, executions, job } = await handled(1, [[read], [read], [read]]);
  await requestPause(deps, job.run_id, 'ann');
  await handleStep(deps, job, calm());
  const found = await readStep(deps.redis, job.run_id, job.step_id);
  expect(found).toMatchObject({ run: { status: 'paused' }, step: { status: 'queued', attempt: 0 } });
  expect(executions.at(-1)?.stepId).toBe(job.step_id);
});
