import { watchHistory, watchInstallation } from '@holdpoint/engine/installation';
import { countRepair, type WorkerDeps } from '@holdpoint/engine/worker';

interface Watched {
  dataDir: string;
  /** The id of the installation that Redis and the data directory belong to. */
  installation: string;
  /** Redis is another or an empty one now: nothing may be done on it. */
  onLost(error: Error): void;
}

/** Watches whether Redis is still the one of this installation, and whether it went back to an earlier time. */
export function watchRedis(deps: WorkerDeps, { dataDir, installation, onLost }: Watched): { stop(): Promise<void> } {
  const { redis, logger } = deps;
  const identity = watchInstallation({ redis, dataDir, id: installation }, onLost);
  const history = watchHistory(
    { redis, dataDir },
    {
      onLoss: (seconds) => {
        logger.error({ seconds }, 'Redis went back to an earlier time: writes that it had acknowledged are lost');
        countRepair(deps, 'redis_went_back').catch((error: unknown) =>
          logger.warn({ err: error }, 'a repair was not counted'),
        );
      },
      onError: (error) => logger.debug({ err: error }, 'the high water mark was not moved'),
    },
  );
  return {
    async stop() {
      identity.stop();
      await history.stop();
    },
  };
}
