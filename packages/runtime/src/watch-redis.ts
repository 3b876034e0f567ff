import { watchHistory, watchInstallation } from '@holdpoint/engine/installation';
import { countRepair, type WorkerDeps } from '@holdpoint/engine/worker';

interface Watched {
  dataDir: string;
  /** Id of the installation, shared by Redis and the data directory. */
  installation: string;
  /** Redis is empty or belongs to another installation now: this worker may not use Redis any more. */
  onLost(error: Error): void;
}

/** Watches whether Redis still belongs to this installation, and whether Redis went back to an earlier time. */
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
