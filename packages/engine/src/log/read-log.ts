import { eventSchema, type LoggedEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { logKey } from './keys.ts';

/** The events after sequence number `after`, oldest first, at most `limit`. */
export async function readLog(
  redis: Redis,
  runId: string,
  { after = 0, limit = 500 }: { after?: number; limit?: number } = {},
): Promise<LoggedEvent[]> {
  const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', limit);
  return entries.map(([id, [, text]]) => {
    const seq = Number(id.slice(0, id.indexOf('-')));
    return { ...eventSchema.parse(JSON.parse(text ?? '')), seq };
  });
}

/** The whole log, page by page. */
export async function* readWholeLog(redis: Redis, runId: string): AsyncGenerator<LoggedEvent> {
  let after = 0;
  for (;;) {
    const page = await readLog(redis, runId, { after });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** When the last event of a run was recorded, in milliseconds since the epoch. */
export async function lastEventAt(redis: Redis, runId: string): Promise<number | undefined> {
  const [entry] = await redis.xrevrange(logKey(runId), '+', '-', 'COUNT', 1);
  return entry === undefined ? undefined : Date.parse(eventSchema.parse(JSON.parse(entry[1][1] ?? '')).time);
}

/** The events as stored text, not parsed: for a search through all logs. */
export async function* readRawLog(redis: Redis, runId: string): AsyncGenerator<string> {
  let after = 0;
  for (;;) {
    const entries = await redis.xrange(logKey(runId), `${after + 1}-0`, '+', 'COUNT', 500);
    for (const [, [, text]] of entries) yield text ?? '';
    const last = entries.at(-1);
    if (last === undefined) return;
    after = Number(last[0].slice(0, last[0].indexOf('-')));
  }
}
