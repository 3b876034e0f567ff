import { isDeepStrictEqual } from 'node:util';
import { announcePresence } from '@holdpoint/process/presence';
import type { Redis } from 'ioredis';
import { InstallationError } from './error.ts';
import { currentFormat, readRedisRecord } from './record.ts';
import type { Sides } from './sides.ts';

/** @throws InstallationError when Redis is replaced, emptied or migrated; or the error of the connection */
export async function confirmInstallation(redis: Redis, id: string): Promise<void> {
  const { id: now, format } = await readRedisRecord(redis);
  if (now === id && isDeepStrictEqual(format, currentFormat)) return;
  const next =
    'Stop Holdpoint, restore Redis from its append-only file or a backup, and start again. Nothing was deleted.';
  if (now === undefined)
    throw new InstallationError('installation_lost', 'Redis came back without the data of this installation.', next);
  if (now !== id)
    throw new InstallationError('installation_lost', 'Redis was replaced by the Redis of another installation.', next);
  throw new InstallationError(
    'installation_lost',
    'Redis has another data format than at the start of this program.',
    'Start the version of Holdpoint that migrated the data.',
  );
}

const everyMs = 5000;

/**
 * Checks every five seconds whether Redis still belongs to this installation, and shows other programs of this machine that this program
 * works on its data directory.
 *
 * @param onLost called once
 */
export function watchInstallation(
  { redis, id, dataDir }: Sides & { id: string },
  onLost: (error: InstallationError) => void,
): { stop(): void } {
  const timer = setInterval(() => {
    confirmInstallation(redis, id).catch((error: unknown) => {
      // A lost connection gives no information about the server behind the connection.
      if (!(error instanceof InstallationError)) return;
      clearInterval(timer);
      onLost(error);
    });
  }, everyMs);
  timer.unref();
  const presence = announcePresence({ id, dataDir });
  return {
    stop() {
      clearInterval(timer);
      presence.stop();
    },
  };
}
