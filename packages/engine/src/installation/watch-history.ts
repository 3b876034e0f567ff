import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@holdpoint/process/durable-files';
import type { Redis } from 'ioredis';
import { highWaterKey } from '../log/keys.ts';

const fileOf = (dataDir: string): string => join(dataDir, 'high-water');

/**
 * Raises a counter in Redis and a high water mark in the data directory. The mark shows when Redis went back in time: a lagging replica
 * took over, an older append-only file was restored, or `appendfsync everysec` lost the last second.
 * @returns the number of marks lost by Redis
 */
export async function markHistory({ redis, dataDir }: Sides): Promise<number> {
  const file = fileOf(dataDir);
  // Read before the counter rises: the value in the file then was an earlier answer of this Redis.
  const before = await readMark(file);
  const now = await redis.incr(highWaterKey);
  const lost = Math.max(0, before + 1 - now);
  // Other workers read the file, too. The counter passes the mark, so only one worker reports the loss.
  const mark = lost === 0 ? now : before + 1;
  if (lost > 0) await redis.set(highWaterKey, mark);
  await writeDurably(file, `${mark}\n`);
  return lost;
}

async function readMark(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const mark = Number(text.replaceAll('\0', ''));
  return Number.isSafeInteger(mark) ? mark : 0;
}

/** As short as the period that `appendfsync everysec` may lose. */
const everyMs = 1000;

const anHour = 3_600_000;

/** Removes the temporary files of processes killed between the two halves of a durable write. A write takes milliseconds. */
export async function sweepUnfinished(dataDir: string, now = Date.now()): Promise<void> {
  const names = await readdir(dataDir);
  for (const name of names.filter((each) => /\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/.test(each))) {
    const file = join(dataDir, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > anHour) await rm(file, { force: true });
  }
}

/** Marks every second. @param onLoss gets about how many seconds Redis went back */
export function watchHistory(
  sides: Sides,
  { onLoss, onError }: { onLoss: (seconds: number) => void; onError: (error: unknown) => void },
): { stop(): Promise<void> } {
  let current: Promise<void> = Promise.resolve();
  let isBusy = false;
  const mark = (): void => {
    if (isBusy) return;
    isBusy = true;
    current = markHistory(sides)
      .then((lost) => {
        if (lost > 0) onLoss(lost);
      }, onError)
      .finally(() => {
        isBusy = false;
      });
  };
  mark();
  sweepUnfinished(sides.dataDir).catch(onError);
  const timer = setInterval(mark, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}

/**
 * A data directory and a Redis belong together: the data directory has the files of a run, and Redis its log. Both carry the id of their
 * installation and the number of their data format, so a program with the wrong pair refuses to work and deletes nothing.
 */
export interface Sides {
  redis: Redis;
  dataDir: string;
}
