import type { Redis } from 'ioredis';
import { installationKey } from '../log/keys.ts';
import { InstallationError } from './error.ts';

/** @throws InstallationError when the Redis behind the connection is another or an empty one now; or the error of the connection */
export async function confirmInstallation(redis: Redis, id: string): Promise<void> {
  const now = await redis.get(installationKey);
  if (now === id) return;
  throw new InstallationError(
    'installation_lost',
    now === null
      ? 'Redis came back without its data: it does not know this installation any more.'
      : 'Redis was replaced by the one of another installation.',
    'Stop Holdpoint, restore Redis from its append-only file or a backup, and start again. Nothing was deleted.',
  );
}

const everyMs = 5000;

/** Looks every five seconds whether Redis is still the one of this installation. @param onLost called once */
export function watchInstallation(
  { redis, id }: { redis: Redis; id: string },
  onLost: (error: InstallationError) => void,
): { stop(): void } {
  const timer = setInterval(() => {
    confirmInstallation(redis, id).catch((error: unknown) => {
      // A connection that is down says nothing about what is behind it.
      if (!(error instanceof InstallationError)) return;
      clearInterval(timer);
      onLost(error);
    });
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
