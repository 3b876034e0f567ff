import type { Worker } from '@holdpoint/contract/wire';
import type { Finding } from './finding.ts';

const maxLateMs = 1000;

/** Workers whose event loop was blocked: a blocked worker renews no locks and sees no cancel. */
export function checkLoops(workers: readonly Worker[]): Finding[] {
  return workers.flatMap(({ id, loop }): Finding[] => {
    if (loop === undefined || loop.late_ms <= maxLateMs) return [];
    const { late_ms, busy_ms } = loop;
    const isOwnWork = busy_ms > late_ms / 2;
    return [
      {
        ...{ name: 'event loop', level: 'warn' },
        text: `worker ${id} was blocked for ${late_ms} ms, of these ${busy_ms} ms by its own work`,
        next: isOwnWork
          ? 'Its log names the steps that were running (event loop_late); report this as a bug, with those steps.'
          : 'Other programs used the processors: add processors, or run fewer steps at once (HOLDPOINT_WORKER_STEPS).',
      },
    ];
  });
}
