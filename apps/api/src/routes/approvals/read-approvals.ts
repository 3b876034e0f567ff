import type { ApprovalStatus } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { ApprovalFilter, ApprovalView, Engine } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { showEach } from '../../errors/to-problem.ts';
import { checkRunId } from '../runs/read-runs.ts';
import { toApproval, toListed } from './approval-view.ts';

export function readApprovalsRoutes(app: App): void {
  app.get(
    '/v1/approvals',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'listApprovals',
        summary: 'List approvals of all runs, pending or decided, newest first or by urgency',
        querystring: wire.listApprovalsQuerySchema,
        response: { 200: wire.approvalPageSchema },
      },
    },
    async ({ query: { limit, cursor, ...asked }, deps }) => {
      const filter = await filterOf(deps, asked);
      const { next, ...listed } = await deps.engine.approvals.list(filter, {
        limit,
        cursor: cursor?.replace(':', ' '),
      });
      const shown = await showEach(deps, listed, { idOf: idOfView, show: (view) => toListed(deps, view) });
      return { ...shown, next_cursor: next?.replace(' ', ':') ?? null, has_more: next !== undefined };
    },
  );

  app.get(
    '/v1/approvals/counts',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'countApprovals',
        summary: 'Count approvals by status',
        querystring: wire.countApprovalsQuerySchema,
        response: { 200: wire.approvalCountsSchema },
      },
    },
    async ({ query, deps }) => toCounts(await deps.engine.approvals.counts(await filterOf(deps, query))),
  );

  app.get(
    '/v1/approvals/:id',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getApproval',
        summary: 'Read an approval',
        params: wire.idParamsSchema,
        response: { 200: wire.approvalSchema },
      },
    },
    async ({ params, deps }) => toApproval(deps, await deps.engine.approvals.get(params.id)),
  );
}

type Asked = Partial<Omit<wire.ListApprovalsQuery, 'limit' | 'cursor'>>;

async function filterOf(deps: ApiDeps, { run_id, label, older_than_s, ...rest }: Asked): Promise<ApprovalFilter> {
  const at = label?.indexOf('=') ?? -1;
  return {
    ...rest,
    run_ids: run_id === undefined ? undefined : await withAgents(deps, checkRunId(run_id)),
    label: label === undefined ? undefined : { name: label.slice(0, at), value: label.slice(at + 1) },
    before: older_than_s === undefined ? undefined : deps.now() - older_than_s * 1000,
  };
}

/** A run and the sub-agents beneath it. */
async function withAgents({ engine }: ApiDeps, runId: string): Promise<string[]> {
  const agents = await engine.runs.agents(await engine.runs.get(runId));
  return [runId, ...agents.map(({ id }) => id)];
}

function toCounts({ byStatus, atLeast }: Awaited<ReturnType<Engine['approvals']['counts']>>): wire.ApprovalCounts {
  const counts = byStatus.map(({ status, count }): [ApprovalStatus, number] => [status, count]);
  return {
    total: byStatus.reduce((sum, { count }) => sum + count, 0),
    by_status: Object.fromEntries(counts) as Record<ApprovalStatus, number>,
    at_least: atLeast,
  };
}

const idOfView = ({ approval }: ApprovalView): string => approval.id;
