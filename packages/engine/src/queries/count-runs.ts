import { defaultTenant, type RunStatus, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { countLabelled, countListed, mostCounted } from '../log/index.ts';
import type { RunFilter } from './list-runs.ts';

interface RunCounts {
  byStatus: { status: RunStatus; count: number }[];
  /** The reasons of waiting and paused runs. */
  byReason: { status: RunStatus; reason: string; count: number }[];
  /** The statuses with more runs of the label than were counted. */
  atLeast: RunStatus[];
}

/** Counts the runs of a tenant by status and reason. The numbers are sizes of lists: no run is read. */
export async function countRuns(
  { redis }: Pick<EngineDeps, 'redis'>,
  { tenant = defaultTenant, label }: Pick<RunFilter, 'label'> & { tenant?: Tenant },
): Promise<RunCounts> {
  const counted = await (label === undefined ? countListed(redis, tenant) : countLabelled(redis, tenant, label));
  const byStatus = counted.flatMap(({ status, reason, count }) => (reason === undefined ? [{ status, count }] : []));
  const byReason = counted.flatMap(({ status, reason, count }) =>
    reason === undefined || count === 0 ? [] : [{ status, reason, count }],
  );
  const isOver = ({ count }: { count: number }): boolean => label !== undefined && count >= mostCounted;
  return { byStatus, byReason, atLeast: byStatus.filter(isOver).map(({ status }) => status) };
}
