import type { Periodic } from '@holdpoint/contract/wire';
import type { PeriodicWork } from '@holdpoint/engine';
import type { ServerDeps } from '../../deps.ts';

export async function readPeriodic(
  { openEngine }: Pick<ServerDeps, 'openEngine'>,
  name: PeriodicWork,
): Promise<Periodic> {
  const last = await openEngine.reconciler.lastDone(name);
  if (last === undefined) return { last_at: null, overdue: false };
  return { last_at: last.worker === null ? null : new Date(last.at).toISOString(), overdue: last.overdue };
}
