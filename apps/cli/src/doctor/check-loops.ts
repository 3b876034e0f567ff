import type { Worker } from '@holdpoint/contract/wire';
import type { Finding } from './finding.ts';

const longestLateMs = 1000;

/** Workers whose event loop was held up: they renew no locks and hear no cancels while that lasts. */
export function checkLoops(workers: readonly Worker[]): Finding[] {
  return workers.flatMap(({ id, loop }): Finding[] => {
    if (loop === undefined || loop.late_ms <= longestLateMs) return [];
    const { late_ms, busy_ms } = loop;
    const itself = busy_ms > late_ms / 2;
    return [
      {
        ...{ name: 'event loop', level: 'warn' },
        text: `the worker ${id} was held up for ${late_ms} ms, and computed for ${busy_ms} ms of it`,
        next: itself
          ? 'Its log names the steps that were running (event loop_late); report it with them, as no step should do that.'
          : 'The machine had other work: give it more processors, or run fewer steps at once (HOLDPOINT_WORKER_STEPS).',
      },
    ];
  });
}
