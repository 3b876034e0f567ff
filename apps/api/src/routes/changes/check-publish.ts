import {
  isTerminal,
  isUnstorable,
  messageOfTitle,
  type PublishPlan,
  type PullRequestTarget,
} from '@holdpoint/contract';
import { type DryRun, dryRunSchema, idParamsSchema, publishPreviewSchema } from '@holdpoint/contract/wire';
import { EngineError, holdsPublish, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, PlacedError } from '../../errors/to-problem.ts';
import { findRun } from '../runs/read-runs.ts';
import { workspaceOf } from '../snapshots/find-snapshot.ts';
import { resolvePullRequest } from './pull-request.ts';

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

/** POST /v1/runs/{id}/publish/dry-run: previews a publish. */
export function dryRunRoute(app: App): void {
  app.post(
    '/v1/runs/:id/publish/dry-run',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['changes'],
        operationId: 'previewPublish',
        summary: 'See what a publish would do',
        description:
          'Every file that would change at the source, what is left out, and every conflict with its three versions. Changes nothing. 503 `source_busy`: an interrupted publish of this run must finish first.',
        params: idParamsSchema,
        body: dryRunSchema.nullish(),
        response: { 200: publishPreviewSchema },
      },
    },
    async ({ params, body, deps }) => {
      const run = await findRun(deps, params.id);
      const options = body ?? {};
      assertSucceeded(run);
      const spec = await deps.engine.runs.spec(run);
      await checkTarget(deps, run, options);
      const plan = await previewPublish(deps, run, options, await resolvePullRequest(deps, run, options));
      return {
        run_id: run.id,
        ...plan,
        validators: spec.validators.map(({ command }) => command),
        needs_approval: holdsPublish(spec, deps.operatorPolicy?.()) !== undefined || plan.left_out.some(isUnstorable),
      };
    },
  );
}
