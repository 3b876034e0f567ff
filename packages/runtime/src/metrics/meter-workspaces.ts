import type { WorkspacePort } from '@holdpoint/engine/worker';
import type { Metrics } from '@holdpoint/telemetry';
import { observe, tableOf, timed } from '../observe.ts';

/** Operations with much time on the disk: each method, with its name among the metrics. */
const operations = {
  materialise: 'materialise',
  fork: 'fork',
  snapshot: 'snapshot',
  differenceFrom: 'compare',
  inspect: 'inspect',
  restore: 'restore',
  takeOver: 'take_over',
  applyPrepared: 'apply_prepared',
  keepPrepared: 'keep_prepared',
  merge: 'merge',
  planPublish: 'plan_publish',
  publish: 'publish',
  discard: 'discard',
} as const satisfies Partial<Record<keyof WorkspacePort, string>>;

/** The same port, with timed operations. */
export function meterWorkspaces(port: WorkspacePort, metrics: Metrics): WorkspacePort {
  if (!metrics.isOn) return port;
  const table = tableOf<WorkspacePort, string>(operations, (act, operation) => (...input) => {
    const report = (seconds: number, outcome: string) =>
      metrics.record('workspaceDuration', seconds, { operation, outcome });
    return timed(() => act(...input), { outcomeOf: () => 'ok', report });
  });
  return observe(port, table);
}
