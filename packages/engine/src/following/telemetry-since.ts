import type { Redis } from 'ioredis';
import { telemetryKey } from '../log/keys.ts';
import { cursorDays } from './telemetry-cursors.ts';

/** From when on events are exported. */
export interface Since {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Records that telemetry is on. */
  touch(): Promise<void>;
}

/** Without a holder for so long, telemetry was off. Longer than the time between two looks. */
const goneMs = 15 * 60_000;
const touchMs = 10_000;

interface Deps {
  redis: Redis;
  now: () => number;
  /** When this process switched telemetry on, in milliseconds since the epoch. */
  from: number;
}

/** What happens while telemetry is off is never exported. A restart of all workers is no such time. */
export async function openSince({ redis, now, from }: Deps): Promise<Since> {
  const [since, at] = await redis.hmget(telemetryKey, 'since', 'at');
  const isOn = at != null && now() - Number(at) < goneMs;
  const stored = isOn ? Number(since) : from;
  let touched = now();
  await redis.hset(telemetryKey, { since: stored, at: touched });
  return {
    // A cursor of an older run may be dropped, and its events would be exported again.
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
