import { randomUUID } from 'node:crypto';
import { isAtHome } from '@holdpoint/process/home';
import { checkFormat } from './check-format.ts';
import { InstallationError } from './error.ts';
import * as record from './record.ts';
import { refuseCopy } from './refuse-copy.ts';
import type { Sides } from './watch-history.ts';

/**
 * Ensures that a data directory and a Redis belong together and have the current format. Two new sides are bound and get the number of the
 * format.
 *
 * @returns the id of the installation
 * @throws InstallationError when the sides do not belong together or have another format; then nothing was changed
 */
export async function bindInstallation(sides: Sides): Promise<string> {
  const { redis, dataDir } = sides;
  const found = await record.readInstallation(sides);
  const { dataDir: here, redis: there } = found;
  refuseCopy(dataDir);
  checkFormat(found);
  if (here.id !== undefined && here.id === there.id) {
    if (!isAtHome(dataDir, here.home)) await recordHome(dataDir, here.id);
    return here.id;
  }
  if (there.id !== undefined) throw here.id === undefined ? missingHere(dataDir) : mismatch(dataDir);
  if (here.runs > 0) throw missingInRedis(dataDir, here.runs);
  if (there.runs > 0) throw missingHere(dataDir);
  // Both are new. The file comes first: when this start dies in between, the next start completes the binding.
  const { id = '' } =
    here.id === undefined ? await record.createFileRecord(dataDir, randomUUID(), record.currentFormat) : here;
  await record.createRedisRecord(redis, id, record.currentFormat);
  if ((await record.readRedisRecord(redis)).id !== id) throw mismatch(dataDir);
  return id;
}

/**
 * The data directory has moved, or an earlier version bound the directory. A full disk keeps no program from starting: a later start
 * records the path.
 */
const recordHome = (dataDir: string, id: string): Promise<void> =>
  record.writeFileRecord(dataDir, id, record.currentFormat).catch(() => undefined);

/**
 * Declares a data directory and a Redis as belonging together from now on. An id known to Redis alone is replaced, because another data
 * directory may still carry the id.
 *
 * @throws InstallationError when either side has another format or none, or the data directory is a copy
 */
export async function adoptInstallation(sides: Sides): Promise<string> {
  const found = await record.readInstallation(sides);
  refuseCopy(sides.dataDir);
  checkFormat(found);
  const { dataDir: here, redis: there } = found;
  const isKept = here.id !== undefined && (there.id === undefined || there.id === here.id);
  const id = isKept && here.id !== undefined ? here.id : randomUUID();
  await record.writeFileRecord(sides.dataDir, id, record.currentFormat);
  await record.writeRedisRecord(sides.redis, id, record.currentFormat);
  return id;
}

const next = 'Check REDIS_URL and HOLDPOINT_DATA. If they do belong together, bind them with `holdpoint adopt`.';

const mismatch = (dataDir: string): InstallationError =>
  new InstallationError(
    'installation_mismatch',
    `The data directory ${dataDir} belongs to another installation than this Redis.`,
    next,
  );

const missingHere = (dataDir: string): InstallationError =>
  new InstallationError(
    'installation_data_missing',
    `This Redis belongs to an installation, and the data directory ${dataDir} to none.`,
    next,
  );

const missingInRedis = (dataDir: string, runs: number): InstallationError =>
  new InstallationError(
    'installation_redis_missing',
    `The data directory ${dataDir} has the files of ${runs} runs, and this Redis belongs to no installation: Redis is empty, or REDIS_URL names the wrong server.`,
    `${next} If Redis lost its data, restore it from a backup first: the logs of the runs are only there.`,
  );
