import * as contract from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EngineError, holdsPublish, type RunState } from '@holdpoint/engine';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, PlacedError } from '../../errors/to-problem.ts';
import { awaitRun } from '../../live/stream.ts';
import { findRun } from '../runs/read-runs.ts';
import { toRun } from '../runs/run-view.ts';
import { workspaceOf } from '../snapshots/read-snapshots.ts';
import { assertPublic, resolvePullRequest } from './pull-request.ts';

/** Why the publish failed or waits for conflicts to be resolved; undefined in other states. */
async function refusalOf(deps: Pick<ApiDeps, 'engine'>, run: RunState): Promise<ApiProblem | undefined> {
  switch (run.publication) {
    case 'conflicted':
      return conflict(run);
    case 'parked': {
      const id = run.publish_approval;
      const approval = id === undefined ? undefined : await deps.engine.approvals.find(run.id, id);
      return approval?.request.kind === 'conflict' ? conflict(run, approval.id) : undefined;
    }
    case 'failed':
    case 'rejected':
      return failure(run);
    default:
      return undefined;
  }
}

function conflict(run: RunState, approvalId?: string): ApiProblem {
  const { conflicts } = toRun(run).publication;
  const count = conflicts.length === 1 ? 'one conflict' : `${conflicts.length} conflicts`;
  const next =
    approvalId === undefined
      ? undefined
      : `Read GET /v1/approvals/${approvalId} for the versions and …/conflict?path=… for the lines, and decide there what becomes of each file; or reject it and publish to another branch.`;
  return new ApiProblem('publish_conflict', `the source is unchanged: ${count}`, {
    conflicts,
    approval_id: approvalId,
    next,
  });
}

const ownCodes = ['validator_failed', 'publish_rejected', 'publish_expired'] as const;

function failure(run: RunState): ApiProblem {
  const { reason } = toRun(run).publication;
  const code = ownCodes.find((one) => one === reason?.code) ?? 'publish_failed';
  return new ApiProblem(code, reason?.message ?? `the publish of ${run.id} ${run.publication}`, { next: reason?.next });
}

export function publishRoutes(app: App): void {
  const response = { 200: wire.publicationSchema, 202: wire.publicationSchema };
  app.post(
    '/v1/runs/:id/publish',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['changes'],
        operationId: 'publishRun',
        summary: 'Bring the change set to the source',
        description:
          '200: the change set is published. 202: no worker has published it yet, or the publish waits for the decision that `approval_id` names. ' +
          '409 `publish_conflict`, `validator_failed`, `publish_rejected`, `publish_expired`, `publish_failed`: the source is unchanged, except where `publish_failed` says that the branch was pushed and its pull request could not be opened. 403 `agents_do_not_publish`: the key is of kind agent.',
        params: wire.idParamsSchema,
        body: wire.publishSchema.nullish(),
        response,
      },
    },
    async ({ params, body, deps }, reply) => {
      assertNoAgent(deps);
      const before = await findRun(deps, params.id);
      const options = body ?? {};
      assertSucceeded(before);
      await checkTarget(deps, before, options);
      const pull_request = await resolvePullRequest(deps, before, options);
      await assertPublic(deps, pull_request);
      const { pull_request: _, ...asked } = options;
      const request = pull_request === undefined ? asked : { ...asked, pull_request };
      const run = await awaitRun(deps, reply, {
        runId: before.id,
        ask: () => deps.engine.publications.request(before.id, request),
        isPending: ({ publication }) => publication === 'requested',
      });
      const refusal = await refusalOf(deps, run);
      if (refusal) throw refusal;
      return reply.code(run.publication === 'published' ? 200 : 202).send(toPublication(run));
    },
  );

  app.post(
    '/v1/runs/:id/discard',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['changes'],
        operationId: 'discardRun',
        summary: 'Remove the workspace of a run that has ended',
        params: wire.idParamsSchema,
        response,
      },
    },
    async ({ params, deps }, reply) => {
      assertNoAgent(deps);
      const { id } = await findRun(deps, params.id);
      const run = await awaitRun(deps, reply, {
        runId: id,
        ask: () => deps.engine.publications.discard(id),
        isPending: ({ publication }) => publication === 'discarding',
      });
      return reply.code(run.publication === 'discarded' ? 200 : 202).send(toPublication(run));
    },
  );
}

/** An agent that published its own work, or threw it away, would pass the review. @throws ApiProblem `agents_do_not_publish` */
function assertNoAgent({ holder: { caller } }: ApiDeps): void {
  if (caller.kind !== 'agent') return;
  throw new ApiProblem('agents_do_not_publish', `the key of ${caller.name} is that of an agent`);
}

function toPublication(run: RunState): wire.Publication {
  const { conflicts: _, ...publication } = toRun(run).publication;
  return { run_id: run.id, snapshot: run.snapshot ?? null, ...publication };
}

type Deps = Pick<ApiDeps, 'engine' | 'workspaces'>;

/**
 * Refuses a request impossible for a publish to this source. Only reads.
 * @throws WorkspaceError `ENOTPUBLISHABLE`, `EBRANCHINVALID`; ApiProblem `invalid_request`
 */
async function checkTarget(deps: Deps, run: RunState, { branch }: wire.DryRun): Promise<void> {
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
async function previewPublish(
  deps: Deps,
  run: RunState,
  { message, branch, author, include_ignored }: wire.DryRun,
  pull_request: contract.PullRequestTarget | undefined,
): Promise<contract.PublishPlan> {
  const { snapshot } = workspaceOf(run);
  const target = {
    message: message ?? contract.messageOfTitle(run.header.title),
    include_ignored: include_ignored ?? (await deps.engine.runs.spec(run)).publish.include_ignored,
    branch,
    author,
    pull_request,
  };
  return deps.workspaces.previewPublish({ runId: run.id, snapshot, target });
}

/** @throws EngineError `run_not_finished`, `run_not_succeeded` */
function assertSucceeded({ id, status }: RunState): void {
  if (!contract.isTerminal(status)) throw new EngineError('run_not_finished', `the run ${id} is ${status}`);
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
        params: wire.idParamsSchema,
        body: wire.dryRunSchema.nullish(),
        response: { 200: wire.publishPreviewSchema },
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
        needs_approval:
          holdsPublish(spec, deps.operatorPolicy?.()) !== undefined || plan.left_out.some(contract.isUnstorable),
      };
    },
  );
}
