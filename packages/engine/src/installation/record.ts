import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createDurably, writeDurably } from '@holdpoint/process/durable-files';
import { homeOf, installationFile } from '@holdpoint/process/home';
import { announcePresence } from '@holdpoint/process/presence';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { listTenants, runIndexOf } from '../log/index.ts';
import { formatKey, installationKey, stateKey } from '../log/keys.ts';
import { InstallationError } from './error.ts';
import { makeDataDirectory } from './make-data-directory.ts';
import { dataFormat } from './migrations/migrations.ts';
import type { Sides } from './watch-history.ts';

/** The format of the data of a side. `migrating_to` is set while a migration changes the data. */
const formatSchema = z.object({ data_format: z.int().min(1), migrating_to: z.int().min(1).optional() });
export type Format = z.infer<typeof formatSchema>;

export const currentFormat: Format = { data_format: dataFormat };

/** Blank when a power failure cut the first write: then no installation was ever bound to the side. */
const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === '';

/** The record of a side about its own data. Data from before the numbers has no format. */
export interface InstallationRecord {
  id: string | undefined;
  format: Format | undefined;
  /** The path where the data directory was bound; Redis has none, and neither have the data directories of earlier versions. */
  home?: string | undefined;
}

const fileSchema = formatSchema
  .partial()
  .extend({ id: z.string().regex(/^[0-9a-f-]{36}$/), home: z.string().optional() });

/** The path is recorded with the id. A copy keeps both, so the recorded path in a copy differs from the copy's own path. */
const textOf = (dataDir: string, id: string, format: Format): string =>
  `${JSON.stringify({ id, ...format, home: homeOf(dataDir) })}\n`;

/** @throws InstallationError `installation_unreadable` */
export async function readFileRecord(dataDir: string): Promise<InstallationRecord> {
  const text = await readFile(installationFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (isBlank(text)) return { id: undefined, format: undefined };
  try {
    const { id, home, ...format } = fileSchema.parse(JSON.parse(text));
    return { id, format: formatSchema.safeParse(format).data, home };
  } catch (cause) {
    throw new InstallationError(
      'installation_unreadable',
      `${installationFile(dataDir)} does not name an installation.`,
      'Restore that file from a backup; without one remove it, and run `holdpoint adopt`.',
      { cause },
    );
  }
}

export async function writeFileRecord(dataDir: string, id: string, format: Format): Promise<void> {
  makeDataDirectory(dataDir);
  await writeDurably(installationFile(dataDir), textOf(dataDir, id, format));
}

/** Creates the file unless the file exists. When several processes start at once, they all get the record of the first. */
export async function createFileRecord(dataDir: string, id: string, format: Format): Promise<InstallationRecord> {
  makeDataDirectory(dataDir);
  await createDurably(installationFile(dataDir), textOf(dataDir, id, format));
  const record = await readFileRecord(dataDir);
  if (record.id !== undefined) return record;
  // A power failure left a blank file: no installation was ever bound to the directory.
  await rm(installationFile(dataDir), { force: true });
  return createFileRecord(dataDir, id, format);
}

/** @throws InstallationError `installation_unreadable` */
export async function readRedisRecord(redis: Redis): Promise<InstallationRecord> {
  const [id, text] = await redis.mget(installationKey, formatKey);
  return { id: id ?? undefined, format: text ? parseFormat(text) : undefined };
}

export async function writeRedisRecord(redis: Redis, id: string, format: Format): Promise<void> {
  await redis.mset(installationKey, id, formatKey, JSON.stringify(format));
}

/** Writes nothing when Redis has a record already. */
export async function createRedisRecord(redis: Redis, id: string, format: Format): Promise<void> {
  await redis.msetnx(installationKey, id, formatKey, JSON.stringify(format));
}

function parseFormat(text: string): Format {
  try {
    return formatSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new InstallationError(
      'installation_unreadable',
      `The key ${formatKey} in Redis is not a format number.`,
      'Restore Redis from a backup.',
      { cause },
    );
  }
}

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

/** The record of each side, and the number of runs with data on the side. */
export interface InstallationState {
  dataDir: InstallationRecord & { runs: number };
  redis: InstallationRecord & { runs: number };
}

export async function readInstallation({ redis, dataDir }: Sides): Promise<InstallationState> {
  const [file, stored, known] = await Promise.all([readFileRecord(dataDir), readRedisRecord(redis), countRuns(redis)]);
  return { dataDir: { ...file, runs: (await runsIn(dataDir)).length }, redis: { ...stored, runs: known } };
}

async function countRuns(redis: Sides['redis']): Promise<number> {
  const tenants = await listTenants(redis);
  const counts = await Promise.all(tenants.map((tenant) => redis.zcard(runIndexOf(tenant))));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many runs have files in the data directory and no log in this Redis. */
export async function countUnknownRuns({ redis, dataDir }: Sides): Promise<number> {
  let unknown = 0;
  for (const runId of await runsIn(dataDir)) unknown += 1 - (await redis.exists(stateKey(runId)));
  return unknown;
}

/** Whether a data directory has files of runs and no record. Only its Redis can then tell their format. */
export async function hasUnknownFormat(dataDir: string): Promise<boolean> {
  return (await readFileRecord(dataDir)).id === undefined && (await runsIn(dataDir)).length > 0;
}

async function runsIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'runs')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.startsWith('run_'));
}
