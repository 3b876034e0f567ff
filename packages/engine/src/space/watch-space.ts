import { open, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../ports/index.ts';

/** The space to keep free on the disk of the data directory. */
export interface SpaceLimits {
  /** Workers take no new job below this. */
  floor: number;
  /** Size of the reserve: the file is removed when space runs out, so Redis and the log can finish running steps. */
  reserve: number;
}

const bytes = (otherwise: number) =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined || text === '' ? otherwise : Number(text)))
    .pipe(z.int().min(0));

const mebibyte = 1024 * 1024;
const schema = z.object({
  HOLDPOINT_FREE_BYTES: bytes(256 * mebibyte),
  HOLDPOINT_RESERVE_BYTES: bytes(64 * mebibyte),
});

/** Reads an environment. @throws an error naming the variable */
export function spaceLimitsFrom(env: Readonly<Record<string, string | undefined>>): SpaceLimits {
  const parsed = schema.safeParse(env);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  }
  return { floor: parsed.data.HOLDPOINT_FREE_BYTES, reserve: parsed.data.HOLDPOINT_RESERVE_BYTES };
}

const chunkBytes = 1024 * 1024;
const fileOf = (dataDir: string): string => join(dataDir, 'reserve');

export async function hasReserve(dataDir: string, bytes: number): Promise<boolean> {
  const found = await stat(fileOf(dataDir)).catch(() => undefined);
  return found !== undefined && found.size >= bytes;
}

/** Takes up space with a file that may be removed at any time. The file is written in full: a file with a hole takes no space. */
export async function writeReserve(dataDir: string, bytes: number): Promise<void> {
  const temporary = `${fileOf(dataDir)}.new`;
  const chunk = Buffer.alloc(chunkBytes, 'holdpoint keeps this space free for Redis and the log\n');
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      for (let left = bytes; left > 0; left -= chunkBytes) await file.write(chunk, 0, Math.min(left, chunkBytes));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, fileOf(dataDir));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** @returns whether a reserve existed */
export async function releaseReserve(dataDir: string): Promise<boolean> {
  const exists = await hasReserve(dataDir, 0);
  await rm(fileOf(dataDir), { force: true });
  return exists;
}

/** The free space on the disk of the data directory. */
export interface SpaceWatch {
  /** Free bytes when they are too few to take new jobs; undefined when there are enough. */
  readonly low: number | undefined;
  /** Checks now, without waiting for the next second. */
  check(): Promise<void>;
  stop(): void;
}

export interface WatchSpaceInput {
  dataDir: string;
  limits: SpaceLimits;
  /** This process writes the reserve. One process per data directory. @default false */
  keepsReserve?: boolean;
  onLow?(free: number): void;
  onEnough?(free: number): void;
  everyMs?: number;
}

/**
 * Checks the free space every second. The space is low below the floor. The space is enough again when floor and reserve are free together,
 * so writing the reserve again does not make the space low again.
 */
export async function watchSpace(input: WatchSpaceInput, logger: Logger): Promise<SpaceWatch> {
  const { dataDir, limits, keepsReserve = false, everyMs = 1000 } = input;
  let low: number | undefined;
  const release = async (): Promise<void> => {
    if (await releaseReserve(dataDir)) logger.warn({ bytes: limits.reserve }, 'disk space reserve released');
  };
  const check = async (): Promise<void> => {
    const free = await freeBytes(dataDir);
    // Never above the floor: a reserve released there would be written again at once.
    if (free < Math.min(limits.reserve, limits.floor)) await release();
    if (low === undefined ? free < limits.floor : free < limits.floor + limits.reserve) {
      if (low === undefined) {
        logger.error({ free, floor: limits.floor }, 'disk space is low: workers take no new job');
        input.onLow?.(free);
      }
      low = free;
      return;
    }
    if (low !== undefined) {
      low = undefined;
      logger.info({ free }, 'disk space is enough: workers take jobs again');
      input.onEnough?.(free);
    }
    const fits = free >= limits.floor + limits.reserve;
    if (keepsReserve && fits && !(await hasReserve(dataDir, limits.reserve)))
      await writeReserve(dataDir, limits.reserve);
  };
  const safely = (): Promise<void> =>
    check().catch((error: unknown) => logger.warn({ err: error }, 'free disk space could not be read or reserved'));
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const again = async (): Promise<void> => {
    await safely();
    if (!stopped) timer = setTimeout(() => void again(), everyMs).unref();
  };
  await again();
  return {
    get low() {
      return low;
    },
    check: safely,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** The bytes a user without special rights can still write on the file system of a path. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
