import { type Metrics, observeProcess } from '@holdpoint/telemetry';
import type { RunningWorkers } from '../jobs/queue-workers.ts';

/** What a worker process has at the moment. */
export function observeWorker(
  metrics: Metrics,
  {
    workers,
    loop,
  }: { workers: Pick<RunningWorkers, 'slots' | 'held' | 'isFollower'> } & Parameters<typeof observeProcess>[1],
): void {
  observeProcess(metrics, { loop });
  metrics.observe('slots', () => workers.slots().map(({ queue, all }) => ({ value: all, labels: { queue } })));
  metrics.observe('slotsUsed', () => workers.slots().map(({ queue, used }) => ({ value: used, labels: { queue } })));
  metrics.observe('follower', () => [{ value: workers.isFollower() ? 1 : 0 }]);
  metrics.observe('workerHeld', () => {
    const held = workers.held();
    return (['space', 'redis'] as const).map((reason) => ({ value: held.has(reason) ? 1 : 0, labels: { reason } }));
  });
}
