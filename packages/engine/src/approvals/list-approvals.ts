import { defaultTenant, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { approvalIndexOf, ownerOf } from '../log/index.ts';
import { type Page, walkBack } from '../queries/index.ts';
import { type ApprovalView, viewApproval } from './view-approval.ts';

/** Approvals that wait for a decision, newest first. @param page.cursor the last id of the page before */
export async function listPendingApprovals(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  filter: { run_id?: string; tenant?: Tenant },
  page: { limit: number; cursor?: string },
): Promise<Page<ApprovalView>> {
  const items: ApprovalView[] = [];
  for await (const id of walkBack(deps, approvalIndexOf(filter.tenant ?? defaultTenant), page.cursor)) {
    if (filter.run_id !== undefined && (await ownerOf(deps.redis, id)) !== filter.run_id) continue;
    const view = await viewApproval(deps, id).catch(unlessGone);
    if (view?.approval.status !== 'pending') continue;
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
