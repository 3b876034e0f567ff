import type { Redis } from 'ioredis';
import { telemetryCursorKey, telemetryKey } from '../log/keys.ts';

/** The time from which events are exported. */
export interface Since {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Records that telemetry is on. */
  touch(): Promise<void>;
}

/** Without a holder for this long, telemetry was off. Longer than the time between two looks. */
const goneMs = 15 * 60_000;
const touchMs = 10_000;

interface Deps {
  redis: Redis;
  now: () => number;
  /** When this process switched telemetry on, in milliseconds since the epoch. */
  from: number;
}

/** Events from a time without telemetry are never exported. A restart of all workers does not count as a time without telemetry. */
export async function openSince({ redis, now, from }: Deps): Promise<Since> {
  const [since, at] = await redis.hmget(telemetryKey, 'since', 'at');
  const isOn = at != null && now() - Number(at) < goneMs;
  const stored = isOn ? Number(since) : from;
  let touched = now();
  await redis.hset(telemetryKey, { since: stored, at: touched });
  return {
    // A cursor of an older run may be dropped. Without this bound the run's events would be exported again.
    get time() {
      return Math.max(stored, now() - cursorDays * 86_400_000);
    },
    async touch() {
      if (now() - touched < touchMs) return;
      touched = now();
      await redis.hset(telemetryKey, { since: stored, at: touched });
    },
  };
}

/** After this time without a new event the cursor of a run is dropped. */
const cursorDays = 30;

/** For each run, the sequence number up to which its events are handed over; undefined: unknown. */
export async function readCursors(redis: Redis, runIds: readonly string[]): Promise<(number | undefined)[]> {
  const texts = await Promise.all(runIds.map((id) => redis.get(telemetryCursorKey(id))));
  return texts.map((text) => (text === null ? undefined : Number(text)));
}

export async function writeCursors(redis: Redis, cursors: ReadonlyMap<string, number>): Promise<void> {
  const seconds = (cursorDays + 1) * 86_400;
  await Promise.all([...cursors].map(([id, seq]) => redis.set(telemetryCursorKey(id), seq, 'EX', seconds)));
}
