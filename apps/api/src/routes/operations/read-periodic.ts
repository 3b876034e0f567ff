import type { Periodic } from '@holdpoint/contract/wire';
import type { PeriodicWork } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';

export async function readPeriodic({ engine }: Pick<ApiDeps, 'engine'>, name: PeriodicWork): Promise<Periodic> {
  const last = await engine.reconciler.lastDone(name);
  if (last === undefined) return { last_at: null, overdue: false };
  return { last_at: last.worker === null ? null : new Date(last.at).toISOString(), overdue: last.overdue };
}
