import { isTerminal, type PublishPlan, sourceSchema } from '@holdpoint/contract';
import type { DryRun } from '@holdpoint/contract/wire';
import { EngineError, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { PlacedError } from '../../errors/placed-error.ts';
import { given } from '../../schema/given.ts';
import { workspaceOf } from '../snapshots/find-snapshot.ts';

type Deps = Pick<ApiDeps, 'engine' | 'workspaces'>;

/** What a publish is asked to do, with its defaults. */
async function wishOf(deps: Deps, run: RunState, { message, branch, author, include_ignored }: DryRun) {
  return {
    message: message ?? run.header.title,
    include_ignored: include_ignored ?? (await deps.engine.runs.spec(run)).publish.include_ignored,
    ...given({ branch, author }),
  };
}

/**
 * Refuses what no publish to this source could do.
 * @throws WorkspaceError `ENOTPUBLISHABLE`; ApiProblem `invalid_request`
 */
export async function checkTarget(deps: Deps, run: RunState, body: DryRun): Promise<void> {
  const source = sourceSchema.parse((await deps.engine.runs.spec(run)).source);
  if (source.type === 'empty' || source.type === 'archive') {
    throw new WorkspaceError(
      'ENOTPUBLISHABLE',
      `the source of ${run.id} is ${source.type}: there is nowhere to publish to`,
    );
  }
  if (source.type === 'directory' && body.branch !== undefined) {
    const detail = 'only a git source has branches';
    throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/branch', detail }] });
  }
}

/** What publishing would do now. The source stays as it is. @throws WorkspaceError, with its place */
export async function previewPublish(deps: Deps, run: RunState, body: DryRun): Promise<PublishPlan> {
  const { snapshot } = workspaceOf(run);
  try {
    const target = await wishOf(deps, run, body);
    return await deps.workspaces.planPublish({ runId: run.id, snapshot, target });
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'EBRANCHINVALID') throw error;
    throw new PlacedError(error, [{ pointer: '/branch', detail: error.message }]);
  }
}

/** @throws EngineError `run_not_finished`, `run_not_succeeded` */
export function assertSucceeded({ id, status }: RunState): void {
  if (!isTerminal(status)) throw new EngineError('run_not_finished', `the run ${id} is ${status}`);
  if (status !== 'succeeded') throw new EngineError('run_not_succeeded', `the run ${id} ${status}`);
}
