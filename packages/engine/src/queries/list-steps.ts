import { isIdOf } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { ownerOf, readAll, readLog, readStep } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

/** All steps of a run in the order they were planned, its approvals as they were requested, its tasks as they were begun. @throws `run_not_found` */
export async function listSteps(
  deps: Deps,
  runId: string,
): Promise<{
  run: domain.RunState;
  steps: domain.StepState[];
  approvals: domain.ApprovalState[];
  tasks: domain.TaskState[];
}> {
  const fields = await readAll(deps.redis, runId);
  const run = domain.parseRun(runId, fields);
  if (!run) throw new domain.EngineError('run_not_found', `there is no run ${runId}`);
  return {
    run,
    steps: domain.parseAllSteps(fields),
    approvals: domain.parseAllApprovals(fields),
    tasks: domain.parseAllTasks(fields),
  };
}

/** @throws EngineError `step_not_found` */
export async function getStep(deps: Deps, stepId: string): Promise<{ run: domain.RunState; step: domain.StepState }> {
  const runId = isIdOf('step', stepId) ? await ownerOf(deps.redis, stepId) : null;
  const found = runId === null ? undefined : await readStep(deps.redis, runId, stepId);
  if (runId === null || !found) throw new domain.EngineError('step_not_found', `there is no step ${stepId}`);
  const { created_seq, settled_seq, call } = found.step;
  if (settled_seq === undefined || created_seq === undefined) return found;
  const [created] = await readLog(deps.redis, runId, { after: created_seq - 1, limit: 1 });
  if (created?.type !== 'step.created') return found;
  const { verdict, policies } = created.data;
  return { ...found, step: { ...found.step, call: { ...call, verdict, policies } } };
}
