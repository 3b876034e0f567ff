import { defaultTenant, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { cursorAt, EngineError, earlierOf } from '../domain/index.ts';
import {
  approvalFacetIndexOf,
  approvalIndexOf,
  Damaged,
  labelFacet,
  pick,
  readEntry,
  splitDamaged,
} from '../log/index.ts';
import { type Page, pagesBack } from '../queries/index.ts';
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

/** Approvals that wait for a decision, newest first. @param page.cursor the last id of the previous page */
export async function listPendingApprovals(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  filter: ApprovalFilter & { tenant?: Tenant },
  page: { limit: number; cursor?: string },
): Promise<Page<ApprovalView>> {
  const entries: (ApprovalView | Damaged)[] = [];
  for await (const ids of candidates(deps, filter, { cursor: page.cursor, most: page.limit + 1 })) {
    const views = await Promise.all(ids.map((id) => readEntry(id, () => viewApproval(deps, id).catch(unlessGone))));
    for (const view of views) {
      if (!(view instanceof Damaged) && (view?.approval.status !== 'pending' || !fits(view, filter))) continue;
      const last = entries.at(-1);
      if (entries.length === page.limit && last) return { ...splitDamaged(entries), next: idOf(last) };
      entries.push(view);
    }
  }
  return splitDamaged(entries);
}

const idOf = (entry: ApprovalView | Damaged): string => (entry instanceof Damaged ? entry.id : entry.approval.id);

function candidates(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = defaultTenant, run_id, tool, rule, label, before }: ApprovalFilter & { tenant?: Tenant },
  page: { cursor: string | undefined; most: number },
): AsyncGenerator<string[]> {
  const names = [
    ...(run_id === undefined ? [] : [`run:${run_id}`]),
    ...(tool === undefined ? [] : [`tool:${tool}`]),
    ...(rule === undefined ? [] : [`rule:${rule}`]),
    ...(label === undefined ? [] : [labelFacet([label.name, label.value])]),
  ];
  const from = { ...page, cursor: earlierOf(page.cursor, cursorAt('approval', before)) };
  if (names.length === 0) return pagesBack({ redis }, approvalIndexOf(tenant), from);
  return pick(redis, { any: [], all: names.map((name) => approvalFacetIndexOf(tenant, name)) }, from);
}

/** An index entry may be a moment ahead of its append, or behind it. */
function unlessGone(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'approval_not_found') return undefined;
  throw error;
}

function fits(view: ApprovalView, { run_id, tool, rule, label, before }: ApprovalFilter): boolean {
  if (run_id !== undefined && view.run.id !== run_id) return false;
  const { request } = view.approval;
  if (tool !== undefined && (view.subject !== 'step' || view.step.call.tool !== tool)) return false;
  if (rule !== undefined && request.rule?.name !== rule) return false;
  if (label !== undefined && view.run.header.labels[label.name] !== label.value) return false;
  return before === undefined || Date.parse(request.requested_at) <= before;
}
