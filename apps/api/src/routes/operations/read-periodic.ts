import type { Periodic } from '@holdpoint/contract/wire';
import { isOverdue, lastDone, type PeriodicWork, timeOf } from '@holdpoint/engine/handlers/periodic-work';
import type { ApiDeps } from '../../deps.ts';

export async function readPeriodic({ redis }: Pick<ApiDeps, 'redis'>, name: PeriodicWork): Promise<Periodic> {
  const last = await lastDone(redis, name);
  if (last === undefined) return { last_at: null, overdue: false };
  const overdue = isOverdue(last, await timeOf(redis));
  return { last_at: last.worker === null ? null : new Date(last.at).toISOString(), overdue };
}
