import type { Redis } from 'ioredis';
import { telemetryCursorKey } from '../log/keys.ts';

/** After this time without a new event the cursor of a run is dropped. */
export const cursorDays = 30;

/** For each run, the sequence number up to which its events are handed over; undefined: unknown. */
export async function readCursors(redis: Redis, runIds: readonly string[]): Promise<(number | undefined)[]> {
  const texts = await Promise.all(runIds.map((id) => redis.get(telemetryCursorKey(id))));
  return texts.map((text) => (text === null ? undefined : Number(text)));
}

export async function writeCursors(redis: Redis, cursors: ReadonlyMap<string, number>): Promise<void> {
  const seconds = (cursorDays + 1) * 86_400;
  await Promise.all([...cursors].map(([id, seq]) => redis.set(telemetryCursorKey(id), seq, 'EX', seconds)));
}
