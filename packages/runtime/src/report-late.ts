import type { LoopDelay } from '@holdpoint/telemetry';
import type { Logger } from 'pino';
import type { RunningWorkers } from './jobs/queue-workers.ts';

const mostNamed = 20;

/**
 * Logs a blocked event loop with the running jobs: a running job blocked the loop. A blocked loop renews no lock and receives no cancel,
 * so every job of this worker may be lost.
 */
export const reportLate =
  (logger: Pick<Logger, 'warn'>, workers: Pick<RunningWorkers, 'running'>) =>
  (delay: LoopDelay): void => {
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
