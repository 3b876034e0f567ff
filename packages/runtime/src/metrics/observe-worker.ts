import { isIsolated, type Sandbox } from '@holdpoint/sandbox';
import { type Metrics, observeProcess } from '@holdpoint/telemetry';
import type { RunningWorkers } from '../jobs/queue-workers.ts';

type Parts = {
  workers: Pick<RunningWorkers, 'slots' | 'held' | 'isFollower'>;
  sandbox: Pick<Sandbox, 'capabilities' | 'spares'>;
} & Parameters<typeof observeProcess>[1];

/** Observes the present state of a worker process. */
export function observeWorker(metrics: Metrics, { workers, loop, sandbox }: Parts): void {
  observeProcess(metrics, { loop });
  metrics.observe('slots', () => workers.slots().map(({ queue, all }) => ({ value: all, labels: { queue } })));
  metrics.observe('slotsUsed', () => workers.slots().map(({ queue, used }) => ({ value: used, labels: { queue } })));
  metrics.observe('follower', () => [{ value: workers.isFollower() ? 1 : 0 }]);
  metrics.observe('workerHeld', () => {
    const held = workers.held();
    return (['space', 'redis'] as const).map((reason) => ({ value: held.has(reason) ? 1 : 0, labels: { reason } }));
  });
  metrics.observe('sandboxIsolated', () => [{ value: isIsolated(sandbox.capabilities) ? 1 : 0 }]);
  metrics.observe('sandboxSpares', () => [{ value: sandbox.spares.waiting }]);
  // Counters begin at 0, so the first loss or stall is an increase.
  metrics.count('auditLosses', {}, 0);
  for (const { queue } of workers.slots()) {
    metrics.count('stalled', { queue }, 0);
    metrics.count('stuckHandlers', { queue }, 0);
  }
}
