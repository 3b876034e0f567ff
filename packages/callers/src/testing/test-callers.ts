import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { memoryDirectory, startTestRedis } from '@holdpoint/embedded-redis/testing';
import { Redis } from 'ioredis';
import { type Callers, openCallers } from '../callers.ts';
import { createKeyText } from '../check-key.ts';
import { type CallerLimits, callerLimitsFrom } from '../limits.ts';
import type { Holder } from '../record.ts';

export interface TestCallers {
  redis: Redis;
  callers: Callers;
  /** What another API process opens. */
  open(limits?: Partial<CallerLimits>): Promise<Callers>;
  firstKey: string;
  admin: Holder;
  stop(): Promise<void>;
}

/** Keys on a real Redis in a temporary directory. */
export async function startTestCallers(): Promise<TestCallers> {
  const directory = await mkdtemp(join(await memoryDirectory(), 'hp-callers-'));
  const server = await startTestRedis(directory);
  const redis = new Redis(server.path);
  const firstKey = createKeyText();
  let made = 0;
  const newId = (): string => {
    made += 1;
    return `key_${String(made).padStart(4, '0')}`;
  };
  const open = (limits: Partial<CallerLimits> = {}): Promise<Callers> =>
    openCallers({ redis, newId, now: Date.now, firstKey, limits: { ...callerLimitsFrom({}), ...limits } });
  const callers = await open();
  return {
    redis,
    callers,
    open,
    firstKey,
    admin: (await callers.check(firstKey)).holder,
    async stop() {
      redis.disconnect();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
