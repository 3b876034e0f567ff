import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { createDurably, writeDurably } from '../files/write-durably.ts';
import { installationKey, runIndex, stateKey } from '../log/keys.ts';
import { InstallationError } from './error.ts';

/**
 * A data directory and a Redis belong together: the files of a run are in one, its log is in the other. Both carry the id of their
 * installation, so that a program that was given the wrong one of them refuses to work, and deletes nothing.
 */
const fileSchema = z.strictObject({ format: z.literal(1), id: z.string().regex(/^[0-9a-f-]{36}$/) });

const fileOf = (dataDir: string): string => join(dataDir, 'installation');

export interface Sides {
  redis: Redis;
  dataDir: string;
}

/** The id of each side, and whether it holds anything that belongs to runs. */
export interface InstallationState {
  dataDir: { id: string | undefined; runs: number };
  redis: { id: string | undefined; runs: number };
}

export async function readInstallation({ redis, dataDir }: Sides): Promise<InstallationState> {
  const [here, there, known] = await Promise.all([readId(dataDir), redis.get(installationKey), redis.zcard(runIndex)]);
  return {
    dataDir: { id: here, runs: (await runsIn(dataDir)).length },
    redis: { id: there ?? undefined, runs: known },
  };
}

/** Runs that the data directory has files of, and whose log is not in this Redis. */
export async function countUnknownRuns({ redis, dataDir }: Sides): Promise<number> {
  let unknown = 0;
  for (const runId of await runsIn(dataDir)) unknown += 1 - (await redis.exists(stateKey(runId)));
  return unknown;
}

/**
 * Makes sure that a data directory and a Redis belong together, and binds them at their first start.
 *
 * @returns the id of the installation
 * @throws InstallationError when they do not; nothing was changed then
 */
export async function bindInstallation({ redis, dataDir }: Sides): Promise<string> {
  const found = await readInstallation({ redis, dataDir });
  const { dataDir: here, redis: there } = found;
  if (here.id !== undefined && here.id === there.id) return here.id;
  if (there.id !== undefined) throw here.id === undefined ? missingHere(dataDir) : mismatch(dataDir);
  if (here.runs > 0) throw missingInRedis(dataDir, here.runs);
  if (there.runs > 0) throw missingHere(dataDir);
  // Both are new. The file comes first: a start that dies in between is completed by the next one.
  const id = here.id ?? (await createId(dataDir));
  await redis.set(installationKey, id, 'NX');
  if ((await redis.get(installationKey)) !== id) throw mismatch(dataDir);
  return id;
}

/**
 * Declares that a data directory and a Redis belong together from now on. An id that only Redis has is replaced, because another data
 * directory may still carry it.
 */
export async function adoptInstallation({ redis, dataDir }: Sides): Promise<string> {
  const { dataDir: here, redis: there } = await readInstallation({ redis, dataDir });
  const isKept = here.id !== undefined && (there.id === undefined || there.id === here.id);
  const id = isKept && here.id !== undefined ? here.id : randomUUID();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeDurably(fileOf(dataDir), textOf(id));
  await redis.set(installationKey, id);
  return id;
}

const textOf = (id: string): string => `${JSON.stringify({ format: 1, id })}\n`;

async function readId(dataDir: string): Promise<string | undefined> {
  const text = await readFile(fileOf(dataDir), 'utf8').catch(unlessMissing(''));
  if (text.replaceAll('\0', '').trim() === '') return undefined;
  try {
    return fileSchema.parse(JSON.parse(text)).id;
  } catch (cause) {
    throw new InstallationError(
      'installation_unreadable',
      `${fileOf(dataDir)} does not name an installation.`,
      'Restore that file from a backup; without one remove it, and run `holdpoint adopt`.',
      { cause },
    );
  }
}

/** Makes the id. When several processes start at once, they all use the id of the first. */
async function createId(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = fileOf(dataDir);
  await createDurably(file, textOf(randomUUID()));
  const id = await readId(dataDir);
  if (id !== undefined) return id;
  // A power failure left a blank file: no installation was ever bound to it.
  await rm(file, { force: true });
  return createId(dataDir);
}

async function runsIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'runs')).catch(unlessMissing<string[]>([]));
  return names.filter((name) => name.startsWith('run_'));
}

const unlessMissing =
  <T>(otherwise: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };

const next = 'Check REDIS_URL and HOLDPOINT_DATA. If they do belong together, `holdpoint adopt` says so.';

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
    `The data directory ${dataDir} has the files of ${runs} runs, and this Redis belongs to no installation: it is empty, or another one.`,
    `${next} If Redis lost its data, restore it from a backup first: the logs of the runs are there and nowhere else.`,
  );
