import type { LoopDelay } from '@holdpoint/telemetry';
import type { Logger } from 'pino';
import type { RunningWorkers } from './jobs/queue-workers.ts';

const mostNamed = 20;

/**
 * Says that the event loop was held up, and what this worker was running: one of those jobs did it. While it lasts no lock is renewed and
 * no cancel is heard, so that the jobs of every run here may be lost.
 */
export function reportLate(logger: Pick<Logger, 'warn'>, workers: Pick<RunningWorkers, 'running'>) {
  return (delay: LoopDelay): void => {
    const running = workers.running();
    logger.warn(
      {
        event: 'loop_late',
        ...delay,
        running: running.slice(0, mostNamed),
        others: Math.max(0, running.length - mostNamed),
      },
      'the event loop of this worker was held up',
    );
  };
}
