import type { Redis } from 'ioredis';
import { logKey } from './keys.ts';

/** The events after sequence number `after` as stored text (`recorded-event.ts`), oldest first, at most `limit`. */
export async function readTexts(
  redis: Redis,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ seq: number; text: string }[]> {
  const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', limit);
  return entries.map(([id, [, text = '']]) => ({ seq: Number.parseInt(id, 10), text }));
}
