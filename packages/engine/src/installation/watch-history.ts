import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { writeDurably } from '../files/write-durably.ts';
import { highWaterKey } from '../log/keys.ts';

/**
 * Notices that Redis went back to an earlier time: a replica that lagged behind took over, an older append-only file was restored, or the
 * last second was lost with `appendfsync everysec`. A counter in Redis only rises, and the data directory keeps how far it had come: a high
 * water mark.
 */
export interface History {
  redis: Redis;
  dataDir: string;
}

const fileOf = (dataDir: string): string => join(dataDir, 'high-water');

/**
 * Moves the mark up by one.
 * @returns how many marks Redis has lost; 0: none
 */
export async function markHistory({ redis, dataDir }: History): Promise<number> {
  const file = fileOf(dataDir);
  // Read before the counter rises: whatever the file says by then was an answer of this Redis.
  const before = await readMark(file);
  const now = await redis.incr(highWaterKey);
  const lost = Math.max(0, before + 1 - now);
  // Other workers read the file as well: the counter passes it, so that the loss is reported once.
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

/** As short as what a Redis that writes once a second may lose. */
const everyMs = 1000;

/** Marks every second, and says when something was lost. @param onLoss how many seconds Redis went back, about */
export function watchHistory(
  history: History,
  { onLoss, onError }: { onLoss: (seconds: number) => void; onError: (error: unknown) => void },
): { stop(): Promise<void> } {
  let current: Promise<void> = Promise.resolve();
  let isBusy = false;
  const mark = (): void => {
    if (isBusy) return;
    isBusy = true;
    current = markHistory(history)
      .then((lost) => {
        if (lost > 0) onLoss(lost);
      }, onError)
      .finally(() => {
        isBusy = false;
      });
  };
  mark();
  const timer = setInterval(mark, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
