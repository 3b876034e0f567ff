import type { Redis } from 'ioredis';
import { writeProbeKey } from '../log/keys.ts';

/** A server that only answers PING may refuse every write. @throws what the server says, or that it does not answer */
export async function probeWrite(redis: Pick<Redis, 'set'>, now: number): Promise<void> {
  await redis.set(writeProbeKey, String(now), 'EX', 60);
}
