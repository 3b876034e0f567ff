import type { PeriodicWork } from '@holdpoint/engine';
import { collectGarbage, openPeriodicWork, sweep, type WorkerDeps } from '@holdpoint/engine/worker';
import type { RuntimeConfig } from '../runtime-config.ts';

/** Looks several times per interval: a look just before the due time does not cost a whole interval. */
const looksPerInterval = 4;
const longestLookMs = 60_000;

/** The sweep and maintenance, each on a timer of this process: the first worker to find the work due does the work. */
export function startPeriodic(
  deps: WorkerDeps,
  { sweepMs, maintenanceMs }: Pick<RuntimeConfig, 'sweepMs' | 'maintenanceMs'>,
): { stop(): Promise<void> } {
  const parts = [
    repeat(deps, 'sweep', sweepMs, (signal) => sweep(deps, signal, { everyMs: sweepMs })),
    repeat(deps, 'maintenance', maintenanceMs, (signal) => collectGarbage(deps, signal)),
  ];
  return {
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}

function repeat(
  deps: WorkerDeps,
  name: PeriodicWork,
  everyMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
): { stop(): Promise<void> } {
  const periodic = openPeriodicWork(deps.redis, { name, workerId: deps.workerId, everyMs });
  const ending = new AbortController();
  let current: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  const look = async (): Promise<void> => {
    if (isBusy || ending.signal.aborted) return;
    isBusy = true;
    current = periodic
      .look(async (signal) => void (await work(AbortSignal.any([signal, ending.signal]))))
      .catch((error: unknown) =>
        deps.logger.warn({ work: name, err: error }, 'periodic work failed; it is tried again'),
      )
      .finally(() => {
        isBusy = false;
      });
    await current;
  };
  const timer = setInterval(() => void look(), Math.min(everyMs / looksPerInterval, longestLookMs));
  void look();
  return {
    async stop() {
      clearInterval(timer);
      ending.abort();
      await current;
    },
  };
}
