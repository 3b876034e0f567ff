import type { ApprovalStatus } from '@holdpoint/contract';
import {
  approvalPageSchema,
  approvalSchema,
  idParamsSchema,
  type ListApprovalsQuery,
  listApprovalsQuerySchema,
} from '@holdpoint/contract/wire';
import { type ApprovalFilter, type ApprovalView, readEntry, splitDamaged } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { showEach } from '../../errors/show-damaged.ts';
import { checkRunId } from '../runs/find-run.ts';
import { toApproval } from './approval-view.ts';

export function readApprovalsRoutes(app: App): void {
  app.get(
    '/v1/approvals',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'listApprovals',
        summary: 'List approvals, newest first',
        querystring: listApprovalsQuerySchema,
        response: { 200: approvalPageSchema },
      },
    },
    async ({ query: { status, run_id, limit, cursor, ...asked }, deps }) => {
      const page = { limit, cursor };
      const { next, ...listed } =
        run_id === undefined || hasFilter(asked)
          ? await deps.engine.approvals.list(filterOf({ run_id, ...asked }, deps.now()), page)
          : await approvalsOf(deps, checkRunId(run_id), status, page);
      const shown = await showEach(deps, listed, { idOf: idOfView, show: (view) => toApproval(deps, view) });
      return { ...shown, next_cursor: next ?? null, has_more: next !== undefined };
    },
  );

  app.get(
    '/v1/approvals/:id',
    {
      config: { access: 'approvals:read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getApproval',
        summary: 'Read an approval',
        params: idParamsSchema,
        response: { 200: approvalSchema },
      },
    },
    async ({ params, deps }) => toApproval(deps, await deps.engine.approvals.get(params.id)),
  );
}

type Asked = Pick<ListApprovalsQuery, 'tool' | 'rule' | 'label' | 'older_than_s'>;

const hasFilter = (asked: Asked): boolean => Object.values(asked).some((value) => value !== undefined);

function filterOf(
  { label, older_than_s, ...rest }: Asked & { run_id?: string | undefined },
  now: number,
): ApprovalFilter {
  const at = label?.indexOf('=') ?? -1;
  return {
    ...rest,
    label: label === undefined ? undefined : { name: label.slice(0, at), value: label.slice(at + 1) },
    before: older_than_s === undefined ? undefined : now - older_than_s * 1000,
  };
}

/** The states of a run and its sub-agents have all approvals; the index has only the pending ones. */
async function approvalsOf(
  deps: ApiDeps,
  runId: string,
  status: readonly ApprovalStatus[],
  { limit, cursor }: { limit: number; cursor?: string },
) {
  const run = await deps.engine.runs.get(runId);
  const runs = [runId, ...(await deps.engine.runs.agents(run)).map(({ id }) => id)];
  const read = await Promise.all(runs.map((id) => readEntry(id, () => deps.engine.approvals.ofRun(id))));
  const { items: approvals, damaged: runsDamaged } = splitDamaged(read);
  const fitting = approvals
    .flat()
    .filter((approval) => status.includes(approval.status) && (cursor === undefined || approval.id < cursor))
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = fitting.slice(0, limit);
  const views = await Promise.all(page.map(({ id }) => readEntry(id, () => deps.engine.approvals.get(id))));
  const { items, damaged } = splitDamaged(views);
  const next = fitting.length > limit ? page.at(-1)?.id : undefined;
  return { items, damaged: [...runsDamaged, ...damaged], next };
}

const idOfView = ({ approval }: ApprovalView): string => approval.id;
