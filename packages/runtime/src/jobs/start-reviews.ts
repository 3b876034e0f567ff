import { reviewPlaces, type WorkerDeps } from '@holdpoint/engine/worker';

const everyMs = 1000;

/** Reviews the places of runs in progress every second, a single review at a time. */
export function startReviews(deps: WorkerDeps): { stop(): Promise<void> } {
  let current: Promise<void> | undefined;
  const look = (): void => {
    current ??= reviewPlaces(deps)
      .catch((error: unknown) => deps.logger.warn({ err: error }, 'the places of runs were not reviewed'))
      .finally(() => {
        current = undefined;
      });
  };
  look();
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
      await deps.admission?.close().catch(() => undefined);
    },
  };
}
