import { type ApprovalStatus, approvalStatusSchema, defaultTenant, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { cursorAt, cursorFrom, EngineError, earlierOf, laterOf } from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import type { Page } from '../queries/index.ts';
import { type ApprovalView, viewApproval } from './view-approval.ts';

export interface ApprovalFilter {
  /** @default pending */
  status?: readonly ApprovalStatus[] | undefined;
  run_id?: string | undefined;
  /** Instead of `run_id`: approvals of any of these runs. */
  run_ids?: readonly string[] | undefined;
  tool?: string | undefined;
  /** Name of the rule that holds the call. */
  rule?: string | undefined;
  /** A label of the run. */
  label?: { name: string; value: string } | undefined;
  /** Name of a caller who decided, or approved where several had to. */
  by?: string | undefined;
  /** Requested at this time or before, milliseconds since the epoch. */
  before?: number | undefined;
  /** RFC 3339. */
  requested_after?: string | undefined;
  requested_before?: string | undefined;
  decided_after?: string | undefined;
  decided_before?: string | undefined;
  /** @default newest */
  order?: 'newest' | 'oldest' | 'expires_first' | undefined;
}

type OfTenant = ApprovalFilter & { tenant?: Tenant | undefined };

/** A page asks the lists this often, each time for a bounded number of entries. Then the page ends, and its cursor continues. */
const mostAsked = 10;

/**
 * Approvals, newest first unless `order` says otherwise. A page may be short, or empty, and still have a `next`.
 * @param page.cursor the `next` of the previous page
 */
export async function listApprovals(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  filter: OfTenant,
  page: { limit: number; cursor?: string | undefined },
): Promise<Page<ApprovalView>> {
  const entries: (ApprovalView | runLog.Damaged)[] = [];
  const cursor = startOf(filter, page.cursor);
  let last: string | undefined;
  let asked = 0;
  for await (const { found, next } of runLog.walkApprovals(deps.redis, walkOf(filter), {
    cursor,
    most: page.limit + 1,
  })) {
    const views = await Promise.all(found.map((place) => readListed(deps, place)));
    for (const [at, view] of views.entries()) {
      if (!(view instanceof runLog.Damaged) && (view === undefined || !fits(view, filter))) continue;
      if (entries.length === page.limit) return { ...runLog.splitDamaged(entries), next: last };
      entries.push(view);
      last = found[at];
    }
    asked += 1;
    if (next !== undefined && asked === mostAsked) return { ...runLog.splitDamaged(entries), next };
  }
  return runLog.splitDamaged(entries);
}

const readListed = (deps: Pick<EngineDeps, 'redis' | 'blobs'>, place: string) =>
  runLog.readEntry(runLog.idAt(place), () => viewApproval(deps, runLog.idAt(place)).catch(unlessGone));

/** Where a list begins: at its cursor, or at the time that the filter names. */
function startOf(
  { order, before, requested_after: after, requested_before }: ApprovalFilter,
  cursor: string | undefined,
): string | undefined {
  if (order === 'expires_first') return cursor;
  if (order === 'oldest') return laterOf(cursor, cursorFrom('approval', after));
  return earlierOf(cursor, earlierOf(cursorAt('approval', before), cursorAt('approval', requested_before)));
}

/** Pending approvals have lists of their own, which stay small. */
function walkOf(filter: OfTenant): runLog.Walk {
  const { tenant = defaultTenant, status = ['pending'], by, order = 'newest' } = filter;
  const isDecided = by !== undefined || decidedRange(filter) !== undefined;
  const groups = facetNamesOf(filter);
  if (!isDecided && status.every((one) => one === 'pending')) {
    const lists = groups.map((group) => group.map((name) => runLog.approvalFacetIndexOf(tenant, name)));
    if (order === 'expires_first')
      return { groups: lists, order: 'score', by: runLog.approvalFacetIndexOf(tenant, 'urgency') };
    return { groups: lists.length === 0 ? [[runLog.approvalIndexOf(tenant)]] : lists, order };
  }
  const named = [...groups, status.map(runLog.statusList), ...(by === undefined ? [] : [[runLog.deciderList(by)]])];
  return {
    groups: named.map((group) => [...new Set(group)].map((name) => runLog.historyIndexOf(tenant, name))),
    ...{
      order: order === 'oldest' ? 'oldest' : 'newest',
      by: runLog.decidedIndexOf(tenant),
      range: decidedRange(filter),
    },
  };
}

/** The names of the lists of a filter. The lists of a group are alternatives. */
function facetNamesOf({ run_id, run_ids, tool, rule, label }: ApprovalFilter): string[][] {
  const runs = run_ids ?? (run_id === undefined ? undefined : [run_id]);
  return [
    ...(runs === undefined ? [] : [runs.map((id) => `run:${id}`)]),
    ...(tool === undefined ? [] : [[`tool:${tool}`]]),
    ...(rule === undefined ? [] : [[`rule:${rule}`]]),
    ...(label === undefined ? [] : [[runLog.labelFacet([label.name, label.value])]]),
  ];
}

function decidedRange({ decided_after: after, decided_before: before }: ApprovalFilter): runLog.Walk['range'] {
  if (after === undefined && before === undefined) return undefined;
  const from = after === undefined ? Number.NEGATIVE_INFINITY : Date.parse(after) + 1;
  return { from, to: before === undefined ? Number.POSITIVE_INFINITY : Date.parse(before) - 1 };
}

/** An index entry may be a moment ahead of its append, or behind it. */
function unlessGone(error: unknown): undefined {
  if (error instanceof EngineError && error.code === 'approval_not_found') return undefined;
  throw error;
}

function fits(view: ApprovalView, filter: ApprovalFilter): boolean {
  const { status = ['pending'], run_id, run_ids, tool, rule, label } = filter;
  const { request, status: actual } = view.approval;
  if (!status.includes(actual)) return false;
  if (run_ids !== undefined ? !run_ids.includes(view.run.id) : run_id !== undefined && view.run.id !== run_id) {
    return false;
  }
  if (tool !== undefined && (view.subject !== 'step' || view.step.call.tool !== tool)) return false;
  if (rule !== undefined && request.rule?.name !== rule) return false;
  if (label !== undefined && view.run.header.labels[label.name] !== label.value) return false;
  return wasAsked(view, filter) && wasDecided(view, filter);
}

function wasAsked(
  { approval }: ApprovalView,
  { before, requested_after: after, requested_before: until }: ApprovalFilter,
): boolean {
  const at = Date.parse(approval.request.requested_at);
  if (before !== undefined && at > before) return false;
  return (after === undefined || at > Date.parse(after)) && (until === undefined || at < Date.parse(until));
}

function wasDecided({ approval: { decision } }: ApprovalView, filter: ApprovalFilter): boolean {
  const { by } = filter;
  const range = decidedRange(filter);
  if (by === undefined && range === undefined) return true;
  if (decision === undefined || (by !== undefined && !runLog.decidersOf(decision).includes(by))) return false;
  const at = Date.parse(decision.decided_at);
  return range === undefined || (at >= range.from && at <= range.to);
}

type CountFilter = Pick<ApprovalFilter, 'run_ids' | 'tool' | 'rule' | 'label' | 'by'>;

interface ApprovalCounts {
  byStatus: { status: ApprovalStatus; count: number }[];
  /** The statuses with more approvals of the filter than were counted. */
  atLeast: ApprovalStatus[];
}

/** Counting with a filter stops here. */
const mostCounted = 10_000;

/** Counts the approvals of a tenant by status. The numbers are sizes of lists: no approval is read. */
export async function countApprovals(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = defaultTenant, ...filter }: CountFilter & { tenant?: Tenant | undefined },
): Promise<ApprovalCounts> {
  const ways = waysOf(filter).map((names) => names.map((name) => runLog.historyIndexOf(tenant, name)));
  const byStatus = await Promise.all(
    approvalStatusSchema.options.map(async (status) => {
      const list = runLog.historyIndexOf(tenant, runLog.statusList(status));
      if (ways.length === 1 && ways[0]?.length === 0) return { status, count: await redis.zcard(list), isOver: false };
      const counts = await Promise.all(
        ways.map((lists) => redis.zintercard(lists.length + 1, list, ...lists, 'LIMIT', mostCounted)),
      );
      const count = counts.reduce((sum, one) => sum + one, 0);
      return { status, count, isOver: counts.some((one) => one >= mostCounted) };
    }),
  );
  return {
    byStatus: byStatus.map(({ status, count }) => ({ status, count })),
    atLeast: byStatus.filter(({ isOver }) => isOver).map(({ status }) => status),
  };
}

/** The lists that an approval has to be in, once per run: an approval has one run. */
function waysOf({ by, run_ids: runs, ...rest }: CountFilter): string[][] {
  const names = [...facetNamesOf(rest).flat(), ...(by === undefined ? [] : [runLog.deciderList(by)])];
  if (runs === undefined) return [names];
  return [...new Set(runs)].map((id) => [...names, ...facetNamesOf({ run_ids: [id] }).flat()]);
}
