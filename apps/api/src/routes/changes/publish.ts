import { idParamsSchema, type Publication, publicationSchema, publishSchema } from '@holdpoint/contract/wire';
import type { RunState } from '@holdpoint/engine';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';
import { awaitRun } from '../../live/await-run.ts';
import { findRun, toRun } from '../runs/run.ts';
import { assertSucceeded, checkTarget } from './check-publish.ts';

export function publishRoutes(app: App, deps: ApiDeps): void {
  const response = { 200: publicationSchema, 202: publicationSchema };
  const publishRunOperation = {
    tags: ['changes'],
    operationId: 'publishRun',
    summary: 'Bring the change set to the source',
    description:
      '200: the change set is published. 202: no worker has published it yet, or the publish waits for the decision that `approval_id` names. ' +
      '409 `publish_conflict`, `validator_failed`, `publish_rejected`, `publish_expired`, `publish_failed`: the source is unchanged.',
    params: idParamsSchema,
    body: publishSchema.nullish(),
    response,
  };
  app.post('/v1/runs/:id/publish', { schema: publishRunOperation }, async ({ params, body }, reply) => {
    const before = await findRun(deps, params.id);
    const options = body ?? {};
    assertSucceeded(before);
    await checkTarget(deps, before, options);
    const run = await awaitRun(deps, reply, {
      runId: before.id,
      ask: () => deps.engine.publications.request(before.id, { by: operator, ...options }),
      isPending: ({ publication }) => publication === 'requested',
    });
    const refusal = await refusalOf(deps, run);
    if (refusal) throw refusal;
    return reply.code(run.publication === 'published' ? 200 : 202).send(toPublication(run));
  });

  const discardRunOperation = {
    tags: ['changes'],
    operationId: 'discardRun',
    summary: 'Remove the workspace of a run that has ended',
    params: idParamsSchema,
    response,
  };
  app.post('/v1/runs/:id/discard', { schema: discardRunOperation }, async ({ params }, reply) => {
    const { id } = await findRun(deps, params.id);
    const run = await awaitRun(deps, reply, {
      runId: id,
      ask: () => deps.engine.publications.discard(id, operator),
      isPending: ({ publication }) => publication === 'discarding',
    });
    return reply.code(run.publication === 'discarded' ? 200 : 202).send(toPublication(run));
  });
}

function toPublication(run: RunState): Publication {
  const { conflicts: _, ...publication } = toRun(run).publication;
  return { run_id: run.id, snapshot: run.snapshot ?? null, ...publication };
}

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
      : `Read GET /v1/approvals/${approvalId} for the versions, and decide there what becomes of each file; or reject it and publish to another branch.`;
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
