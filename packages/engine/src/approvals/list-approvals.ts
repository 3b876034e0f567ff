import { defaultTenant, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { approvalIndexOf, ownerOf } from '../log/index.ts';
import { type Page, walkBack } from '../queries/index.ts';
import { type ApprovalView, viewApproval } from './view-approval.ts';

export interface ApprovalFilter {
  run_id?: string | undefined;
  tool?: string | undefined;
  /** Name of the rule that holds the call. */
  rule?: string | undefined;
  /** A label of the run. */
  label?: { name: string; value: string } | undefined;
  /** Requested at this time or before, milliseconds since the epoch. */
  before?: number | undefined;
}

/** Approvals that wait for a decision, newest first. @param page.cursor the last id of the page before */
export async function listPendingApprovals(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  filter: ApprovalFilter & { tenant?: Tenant },
  page: { limit: number; cursor?: string },
): Promise<Page<ApprovalView>> {
  const items: ApprovalView[] = [];
  for await (const id of walkBack(deps, approvalIndexOf(filter.tenant ?? defaultTenant), page.cursor)) {
    if (filter.run_id !== undefined && (await ownerOf(deps.redis, id)) !== filter.run_id) continue;
    const view = await viewApproval(deps, id).catch(unlessGone);
    if (view?.approval.status !== 'pending' || !fits(view, filter)) continue;
    const last = items.at(-1);
    if (items.length === page.limit && last) return { items, next: last.approval.id };
    items.push(view);
  }
  return { items };
}

/** An index entry may be a moment ahead of its append, or behind it. */
function unlessGone(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'approval_not_found') return undefined;
  throw error;
}

function fits(view: ApprovalView, { tool, rule, label, before }: ApprovalFilter): boolean {
  const { request } = view.approval;
  if (tool !== undefined && (view.subject !== 'step' || view.step.call.tool !== tool)) return false;
  if (rule !== undefined && request.rule?.name !== rule) return false;
  if (label !== undefined && view.run.header.labels[label.name] !== label.value) return false;
  return before === undefined || Date.parse(request.requested_at) <= before;
}
