import type { RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { viewApproval } from '../approvals/index.ts';
import { forkRun, requestPause, requestResume, submitRun, undoSteps } from '../commands/index.ts';
import type { PlannerDecision, PlannerInput } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

const asked = { effect: 'workspace', mark: 'asked' };
const edited = { effect: 'workspace', mark: 'edited' };
const spec: RunSpec = {
  ...specOf([[{ args: {} }]], { policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] } }),
  goal: { planner: 'model', model: 'test/model', prompt: 'Go.' },
};

/** A model that makes two held calls, then one held call, then ends; and the history that it got before each of these, by run. */
function listening() {
  const told = new Map<string, Awaited<ReturnType<PlannerInput['history']>>['turns'][]>();
  const calls = (...ids: string[]): PlannerDecision => ({
    ...{ kind: 'calls', message: 'next', answer: {} },
    calls: ids.map((call_id) => ({ call_id, tool: 'count', args: asked })),
  });
  const { deps: plain } = inMemoryWorker(engine);
  const deps: InMemoryWorker['deps'] = {
    ...plain,
    planners: {
      ...plain.planners,
      model: {
        async next(input) {
          const { turns } = await input.history();
          told.set(input.runId, [...(told.get(input.runId) ?? []), turns]);
          if (turns.length === 0) return calls('a', 'b');
          return turns.length === 1 ? calls('c') : { kind: 'finish', message: 'done' };
        },
      },
    },
  };
  const last = (runId: string) =>
    told
      .get(runId)
      ?.at(-1)
      ?.flatMap(({ steps }) => steps) ?? [];
  return { deps, last };
}

async function decideNext(deps: InMemoryWorker['deps'], runId: string, decision: 'approve' | 'edit', message?: string) {
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view, { decision, message, args: decision === 'edit' ? edited : undefined });
  await deliverAll(deps);
  return view?.approval.id ?? '';
}

const afterEdit = { decision: 'edit', args: edited, message: 'like this', isIndeterminate: false };
const afterApproval = { decision: 'approve', message: 'hurry', isIndeterminate: false };

test('the history has each call as asked, as run, and the message of the person', async () => {
  const { deps, last } = listening();
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  const first = await decideNext(deps, runId, 'edit', 'like this');
  await decideNext(deps, runId, 'approve', 'hurry');
  expect(last(runId)).toMatchObject([
    { call_id: 'a', args: asked, decided: [afterEdit] },
    { call_id: 'b', args: asked, decided: [afterApproval] },
  ]);
  await decideNext(deps, runId, 'approve');
  expect(last(runId)[2]).toMatchObject({ call_id: 'c', decided: [{ decision: 'approve', isIndeterminate: false }] });
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  const view = await viewApproval(deps, first);
  expect(view).toMatchObject({ subject: 'step', args: asked, approval: { status: 'edited' } });
  await soundLog(deps, runId);
});

test('a fork that keeps a turn whole, or in part, and a fork of that, tell the same', async () => {
  const { deps, last } = listening();
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await decideNext(deps, runId, 'edit', 'like this');
  await decideNext(deps, runId, 'approve', 'hurry');
  const fork = async (from: string, fromStep: number) => {
    const child = await forkRun(deps, from, { fromStep, changes: {}, by: 'test' });
    await deliverAll(deps);
    return child.runId;
  };
  const whole = await fork(runId, 2);
  expect(last(whole)).toMatchObject([{ decided: [afterEdit] }, { decided: [afterApproval] }]);

  const part = await fork(runId, 1);
  await decideNext(deps, part, 'approve');
  expect(last(part)).toMatchObject([{ args: asked, decided: [afterEdit] }, { decided: [{ decision: 'approve' }] }]);

  const again = await fork(part, 1);
  await decideNext(deps, again, 'edit', 'like this');
  expect(last(again)).toMatchObject([{ decided: [afterEdit] }, { args: asked, decided: [afterEdit] }]);
  for (const id of [runId, whole, part, again]) await soundLog(deps, id);
});

test('after an undo the kept calls tell what they did, and those that are made again do not', async () => {
  const { deps, last } = listening();
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await decideNext(deps, runId, 'edit', 'like this');
  await decideNext(deps, runId, 'edit', 'like this');
  await requestPause(deps, runId, 'test');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'test' });
  await requestResume(deps, runId, { by: 'test' });
  await decideNext(deps, runId, 'approve');
  expect(last(runId)).toMatchObject([{ decided: [afterEdit] }, { args: asked, decided: [{ decision: 'approve' }] }]);
  expect(last(runId)[1]?.decided?.[0]).not.toHaveProperty('args');
  await soundLog(deps, runId);
});

test('a call in doubt that a person had run again says so', async () => {
  const { deps, last } = listening();
  let lost = true;
  const executor: typeof deps.executor = {
    ...deps.executor,
    async execute(...given) {
      if (!lost) return deps.executor.execute(...given);
      lost = false;
      throw Object.assign(new Error('gone'), { retryable: false });
    },
  };
  const worker = { ...deps, executor };
  const outside = { effect: 'external' };
  const planners = {
    ...deps.planners,
    model: {
      next: async (input: PlannerInput, signal: AbortSignal) => {
        const decision = await deps.planners.model.next(input, signal);
        if (decision.kind !== 'calls') return decision;
        return { ...decision, calls: decision.calls.map((call) => ({ ...call, args: outside })) };
      },
    },
  };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  const all = { ...worker, planners };
  await decideNext(all, runId, 'approve', 'hurry');
  await decideNext(all, runId, 'approve', 'once more');
  await decideNext(all, runId, 'approve');
  expect(last(runId)[0]?.decided).toEqual([
    afterApproval,
    { decision: 'approve', message: 'once more', isIndeterminate: true },
  ]);
});
