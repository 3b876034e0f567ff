import { type ApprovalStatus, approvalStatusSchema, defaultTenant, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { deciderList, historyIndexOf, statusList } from '../log/index.ts';
import { type ApprovalFilter, facetNamesOf } from './list-approvals.ts';

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
  const ways = waysOf(filter).map((names) => names.map((name) => historyIndexOf(tenant, name)));
  const byStatus = await Promise.all(
    approvalStatusSchema.options.map(async (status) => {
      const list = historyIndexOf(tenant, statusList(status));
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
  const names = [...facetNamesOf(rest).flat(), ...(by === undefined ? [] : [deciderList(by)])];
  if (runs === undefined) return [names];
  return [...new Set(runs)].map((id) => [...names, ...facetNamesOf({ run_ids: [id] }).flat()]);
}
