import type { ApprovalStatus } from '@holdpoint/contract';
import {
  approvalPageSchema,
  approvalSchema,
  decideSchema,
  idParamsSchema,
  listApprovalsQuerySchema,
} from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { checkRunId } from '../runs/run.ts';
import { toApproval } from './approval-view.ts';
import { checkEdit } from './check-edit.ts';

export function readApprovalsRoutes(app: App, deps: ApiDeps): void {
  const listApprovalsOperation = {
    tags: ['approvals'],
    operationId: 'listApprovals',
    summary: 'List approvals, newest first',
    querystring: listApprovalsQuerySchema,
    response: { 200: approvalPageSchema },
  };
  app.get('/v1/approvals', { schema: listApprovalsOperation }, async ({ query: { status, run_id, limit, cursor } }) => {
    const page = { limit, cursor };
    const { items, next } =
      run_id === undefined
        ? await deps.engine.approvals.list({}, page)
        : await approvalsOf(deps, checkRunId(run_id), status, page);
    const data = await Promise.all(items.map((view) => toApproval(deps, view)));
    return { data, next_cursor: next ?? null, has_more: next !== undefined };
  });

  const getApprovalOperation = {
    tags: ['approvals'],
    operationId: 'getApproval',
    summary: 'Read an approval',
    params: idParamsSchema,
    response: { 200: approvalSchema },
  };
  app.get('/v1/approvals/:id', { schema: getApprovalOperation }, async ({ params }) =>
    toApproval(deps, await deps.engine.approvals.get(params.id)),
  );
}

/** The logs of a run and its sub-agents have all approvals; the index has only the pending ones. */
async function approvalsOf(
  deps: ApiDeps,
  runId: string,
  status: readonly ApprovalStatus[],
  { limit, cursor }: { limit: number; cursor?: string },
) {
  const { run } = await deps.engine.runs.steps(runId);
  const runs = [runId, ...(await deps.engine.runs.agents(run)).map(({ id }) => id)];
  const approvals = await Promise.all(runs.map(async (id) => (await deps.engine.runs.steps(id)).approvals));
  const fitting = approvals
    .flat()
    .filter((approval) => status.includes(approval.status) && (cursor === undefined || approval.id < cursor))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = fitting.slice(0, limit);
  const items = await Promise.all(page.map(({ id }) => deps.engine.approvals.get(id)));
  return { items, next: fitting.length > limit ? page.at(-1)?.id : undefined };
}

/** POST /v1/approvals/{id}/decision: the first decision wins, and binds to the call it was made for. */
export function decideRoute(app: App, deps: ApiDeps): void {
  const decideApprovalOperation = {
    tags: ['approvals'],
    operationId: 'decideApproval',
    summary: 'Decide on an approval',
    description:
      'A repeated decision gets the answer of the first; a different one is 409 `already_decided`. ' +
      'An outdated digest is 409 `action_changed`. When a background command changes the files after the decision, ' +
      'the call does not run: it is parked again, and this approval names the new one (`superseded_by`).',
    params: idParamsSchema,
    body: decideSchema,
    response: { 200: approvalSchema },
  };
  app.post('/v1/approvals/:id/decision', { schema: decideApprovalOperation }, async ({ params, body }) => {
    await checkEdit(deps, params.id, body);
    const { decision, action_digest, args, message } = body;
    const view = await deps.engine.approvals.decide(params.id, {
      decision,
      action_digest,
      by: operator,
      args,
      message,
    });
    return toApproval(deps, view);
  });
}
