import type { WorkspacePort } from '@holdpoint/engine/worker';
import type { Metrics } from '@holdpoint/telemetry';

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
  const metered = { ...port };
  for (const method of Object.keys(operations) as (keyof typeof operations)[]) {
    Object.assign(metered, { [method]: timed(port[method] as Act, operations[method], metrics) });
  }
  return metered;
}

type Act = (...input: unknown[]) => Promise<unknown>;

const timed =
  (act: Act, operation: string, metrics: Metrics): Act =>
  async (...input) => {
    const began = performance.now();
    let outcome = 'error';
    try {
      const result = await act(...input);
      outcome = 'ok';
      return result;
    } finally {
      metrics.record('workspaceDuration', (performance.now() - began) / 1000, { operation, outcome });
    }
  };
