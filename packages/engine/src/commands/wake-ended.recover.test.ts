import type { RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { PlannerDecision } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { requestDiscarding, requestPublication, sendMessage, submitRun } from './index.ts';

const engine = useTestEngine();
const goal: RunSpec['goal'] = { planner: 'model', model: 'test/model', prompt: 'Do it.' };
const call = { name: 'a', tool: 'count', args: { effect: 'workspace' } };

/** A model that changes a file and ends, once for the prompt and once for each message. */
function opening(more: Parameters<typeof specOf>[1] = {}) {
  const worker = inMemoryWorker(engine);
  const read: string[][] = [];
  const deps: typeof worker.deps = {
    ...worker.deps,
    planners: {
      ...worker.deps.planners,
      model: {
        async next({ history }): Promise<PlannerDecision> {
          const { turns, unread } = await history();
          read.push(unread);
          const last = turns.at(-1);
          const isDone = last !== undefined && last.steps.length > 0 && unread.length === 0;
          return isDone
            ? { kind: 'finish', message: `done ${turns.length}` }
            : { kind: 'calls', message: '', calls: [call] };
        },
      },
    },
  };
  const submit = async (): Promise<string> => {
    const { runId } = await submitRun(deps, { spec: { ...specOf([[call]], more), goal }, by: 'test' });
    await deliverAll(deps);
    return runId;
  };
  return { ...worker, deps, read, submit };
}

const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;

test('a run that was published continues with the message, and its next publish is another one', async () => {
  const { deps, submit, read, published } = opening();
  const runId = await submit();
  await requestPublication(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const before = await runOf(runId);
  expect(before).toMatchObject({ status: 'succeeded', publication: 'published', message: 'done 1' });
  await sendMessage(deps, runId, { text: 'And b.', by: 'ann', wake: true });
  expect(await runOf(runId)).toMatchObject({ status: 'running', publication: 'published' });
  await expect(requestPublication(deps, runId, { by: 'ann' })).rejects.toMatchObject({ code: 'run_not_finished' });
  await deliverAll(deps);
  const after = await runOf(runId);
  expect(after).toMatchObject({ status: 'succeeded', publication: 'published' });
  expect(read.flat()).toEqual(['And b.']);
  expect(after.snapshot).not.toBe(before.snapshot);
  await requestPublication(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(published).toEqual([before.snapshot, after.snapshot]);
  await soundLog(deps, runId);
});

test('a wake-up that was lost is sent by the sweep, and a repeated key wakes once', async () => {
  const { deps, submit, read } = opening();
  const runId = await submit();
  const lost = { ...deps, queues: { ...deps.queues, wakeWorkspace: () => Promise.reject(new Error('lost')) } };
  const message = { text: 'More.', by: 'ann', key: 'k', wake: true };
  const sent = await sendMessage(lost, runId, message);
  expect(await sendMessage(deps, runId, message)).toEqual({ ...sent, created: false });
  await sweepOnce(deps);
  await deliverAll(deps);
  expect(await sendMessage(deps, runId, message)).toEqual({ ...sent, created: false });
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
  expect(read.flat()).toEqual(['More.']);
});

test('ten people who wake a run at once are all read, and the run continues once', async () => {
  const { deps, submit, read } = opening();
  const runId = await submit();
  const texts = Array.from({ length: 10 }, (_, at) => `message ${at}`);
  await Promise.all(texts.map((text) => sendMessage(deps, runId, { text, by: 'ann', wake: true })));
  await deliverAll(deps);
  expect(read.flat().toSorted()).toEqual(texts.toSorted());
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
  await soundLog(deps, runId);
});

test('nothing changes for a run that cannot be woken', async () => {
  const held = opening({ policy: { publish: 'hold' } });
  const runId = await held.submit();
  const wake = (id = runId) => sendMessage(held.deps, id, { text: 'More.', by: 'ann', wake: true });
  await expect(sendMessage(held.deps, runId, { text: 'More.', by: 'ann' })).rejects.toMatchObject({
    code: 'run_not_active',
  });
  await requestPublication(held.deps, runId, { by: 'ann' });
  await expect(wake()).rejects.toMatchObject({ code: 'run_not_wakeable' });
  await deliverAll(held.deps);
  expect((await runOf(runId)).publication).toBe('parked');
  await expect(wake()).rejects.toMatchObject({ code: 'run_not_wakeable' });
  await requestDiscarding(held.deps, runId, 'ann');
  await expect(wake()).rejects.toMatchObject({ code: 'run_not_wakeable' });
  await deliverAll(held.deps);
  const { seq } = await runOf(runId);
  await expect(wake()).rejects.toMatchObject({ code: 'run_not_wakeable' });
  expect((await runOf(runId)).seq).toBe(seq);
  const plan = await submitRun(held.deps, { spec: specOf([[call]]), by: 'test' });
  await deliverAll(held.deps);
  await expect(wake(plan.runId)).rejects.toMatchObject({ code: 'run_not_wakeable' });
});
