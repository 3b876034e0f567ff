import { expect, test } from 'vitest';
import { requestPublication } from '../commands/index.ts';
import { sendMessage } from '../commands/send-message.ts';
import { submitRun } from '../commands/submit-run.ts';
import { approvalIndex } from '../log/keys.ts';
import { listSteps } from '../queries/index.ts';
import { jobIds } from '../queues/queues.ts';
import { approveFirst } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTurn } from './handle-turn.ts';

const engine = useTestEngine({ fresh: true });
type Deps = InMemoryWorker['deps'];
const write = { args: { effect: 'workspace' } };
const holdWrites = { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } };

/** A sweep right after something happened to the run: it is never quiet for as long as a wake-up may be under way. */
async function sweepBusy(deps: Deps, runId: string): Promise<void> {
  await sendMessage(deps, runId, { text: 'more', by: 'ann' });
  await sweepOnce(deps);
}
const pendingIds = ({ redis }: Deps) => redis.zrange(approvalIndex, '0', '-1');

test('an approval that fell out of its list is listed again while its run keeps changing', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[write]], holdWrites), by: 'test' });
  await deliverAll(deps);
  const [id = ''] = await pendingIds(deps);
  await deps.redis.zrem(approvalIndex, id);
  await sweepBusy(deps, runId);
  expect(await pendingIds(deps)).toEqual([id]);
  await soundLog(deps, runId);
});

test('a turn whose job sleeps without a reason is woken while its run keeps changing', async () => {
  const worker = inMemoryWorker(engine).deps;
  const calls = [{ tool: 'count', args: { effect: 'read' } }];
  const next = async () => ({ kind: 'calls', message: 'count', calls }) as const;
  const deps = { ...worker, planners: { ...worker.planners, model: { next } } };
  const spec = { ...specOf([[write]]), goal: { planner: 'model', model: 'test', prompt: 'count' } as const };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const [step] = (await listSteps(deps, runId)).steps;
  await handleStep(deps, { run_id: runId, step_id: step?.id ?? '' }, calm());
  const { turns } = deps.queues;
  await (await turns.getJob(jobIds.turn(runId, 2)))?.remove();
  await deps.queues.addTurn({ id: runId }, 2, Date.now() + 3_600_000);
  await sweepBusy(deps, runId);
  expect(await (await turns.getJob(jobIds.turn(runId, 2)))?.isDelayed()).toBe(false);
});

test('the approval of a publish that fell out of its list is listed again', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[write]], { policy: { publish: 'hold' } }), by: 'test' });
  await deliverAll(deps);
  await requestPublication(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const [id = ''] = await pendingIds(deps);
  expect(id).toMatch(/^apr_/);
  await deps.redis.zrem(approvalIndex, id);
  await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  expect(await pendingIds(deps)).toEqual([id]);
  await approveFirst(deps, runId);
  await deliverAll(deps);
  // The other one is of the job, which a delivery of the test removes.
  const repairs = (await soundLog(deps, runId)).flatMap((event) => (event.type === 'run.repaired' ? [event.data] : []));
  expect(repairs).toEqual([{ class: 'workspace_without_job' }, { class: 'approval_not_indexed' }]);
});
