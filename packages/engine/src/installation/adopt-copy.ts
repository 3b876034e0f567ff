import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '@holdpoint/process/durable-files';
import type { Redis } from 'ioredis';
import type { Connections } from '../redis/connect.ts';
import { checkSameFormat, formatMissing } from './check-format.ts';
import { InstallationError } from './error.ts';
import { type InstallationState, readInstallation, writeFileRecord, writeRedisRecord } from './record.ts';
import { refuseWhileConnected } from './refuse-copy.ts';

/**
 * Makes a copied data directory and its copied Redis an installation of their own: both sides get a new id, and the data directory loses
 * all files that name the original's processes or open its API. The format stays. When the adoption dies in between, the next call
 * completes the adoption.
 *
 * @throws InstallationError when the two sides are not a copy of one installation, or programs are connected to this Redis
 */
export async function adoptCopy(input: { connections: Connections; dataDir: string }): Promise<string> {
  const { connections, dataDir } = input;
  const redis = connections.state;
  const found = await readInstallation({ redis, dataDir });
  const formats = checkCopy(found);
  await refuseWhileConnected(connections, 'holdpoint adopt --copy --yes');
  await forgetOriginal(dataDir);
  await forgetBrowsers(redis);
  const id = randomUUID();
  // Redis first: the new id in the file ends the copy's dependence on the original, so the file goes last.
  await writeRedisRecord(redis, id, formats.redis);
  await writeFileRecord(dataDir, id, formats.dataDir);
  return id;
}

/**
 * The formats of a pair that may become an installation of its own.
 * @throws InstallationError `installation_mismatch`, `format_missing`, `format_mismatch`
 */
export function checkCopy({ dataDir, redis }: InstallationState) {
  if (dataDir.id === undefined || redis.id === undefined) throw notBoth();
  if (dataDir.format === undefined) throw formatMissing('The data directory');
  if (redis.format === undefined) throw formatMissing('Redis');
  checkSameFormat({ dataDir, redis });
  return { dataDir: dataDir.format, redis: redis.format };
}

/**
 * Removes the key, which opens the original's API; the key for pushes, which names the original to push services; the records of processes, so no take-over ends processes still running for the original;
 * and the heads of the trees. A tree without a head is built again from its last snapshot.
 */
async function forgetOriginal(dataDir: string): Promise<void> {
  for (const name of ['api-key', 'push-key', 'up.json', 'sandbox']) {
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
  const runs = join(dataDir, 'runs');
  for (const run of await readdir(runs).catch(() => [])) {
    await rm(join(runs, run, 'head'), { recursive: true, force: true });
  }
  await syncPath(dataDir);
}

/** Browsers subscribed to pushes of the original: an address in a push of the copy would lead there. */
async function forgetBrowsers(redis: Redis): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', 'hp:{push}:*', 'COUNT', 1000);
    if (keys.length > 0) await redis.del(...keys);
    cursor = next;
  } while (cursor !== '0');
}

const notBoth = (): InstallationError =>
  new InstallationError(
    'installation_mismatch',
    'The data directory and this Redis are not both copies of one installation.',
    'Copy Redis as well, with the data directory or from the same backup. `holdpoint adopt` shows what each of them holds.',
  );
