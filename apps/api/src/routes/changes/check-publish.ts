import { isTerminal, messageOfTitle, type PublishPlan, type PullRequestTarget } from '@holdpoint/contract';
import type { DryRun } from '@holdpoint/contract/wire';
import { EngineError, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { PlacedError } from '../../errors/placed-error.ts';
import { workspaceOf } from '../snapshots/find-snapshot.ts';

type Deps = Pick<ApiDeps, 'engine' | 'workspaces'>;

/**
 * Refuses a request impossible for a publish to this source. Only reads.
 * @throws WorkspaceError `ENOTPUBLISHABLE`, `EBRANCHINVALID`; ApiProblem `invalid_request`
 */
export async function checkTarget(deps: Deps, run: RunState, { branch }: DryRun): Promise<void> {
  const { source } = await deps.engine.runs.spec(run);
  if (source.type === 'empty' || source.type === 'archive') {
    const detail = `the source of ${run.id} is ${source.type}: there is nowhere to publish to`;
    throw new WorkspaceError('ENOTPUBLISHABLE', detail);
  }
  if (branch === undefined) return;
  if (source.type === 'directory') {
    const detail = 'only a git source has branches';
    throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/branch', detail }] });
  }
  await deps.workspaces.checkBranch(branch).catch((error: unknown) => {
    if (!(error instanceof WorkspaceError)) throw error;
    throw new PlacedError(error, [{ pointer: '/branch', detail: error.message }]);
  });
}

/** The result of a publish at this moment. Writes neither to the source nor to the run's workspace. */
export async function previewPublish(
  deps: Deps,
  run: RunState,
  { message, branch, author, include_ignored }: DryRun,
  pull_request: PullRequestTarget | undefined,
): Promise<PublishPlan> {
  const { snapshot } = workspaceOf(run);
  const target = {
    message: message ?? messageOfTitle(run.header.title),
    include_ignored: include_ignored ?? (await deps.engine.runs.spec(run)).publish.include_ignored,
    branch,
    author,
    pull_request,
  };
  return deps.workspaces.previewPublish({ runId: run.id, snapshot, target });
}

/** @throws EngineError `run_not_finished`, `run_not_succeeded` */
export function assertSucceeded({ id, status }: RunState): void {
  if (!isTerminal(status)) throw new EngineError('run_not_finished', `the run ${id} is ${status}`);
  if (status !== 'succeeded') throw new EngineError('run_not_succeeded', `the run ${id} ${status}`);
}
