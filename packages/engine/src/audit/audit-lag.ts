import { auditEntrySchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/index.ts';
import { activeIndex, idsBefore, listTenants, pagesOf, runIndexOf } from '../log/index.ts';
import { auditCursorsKey, auditEntriesKey, stateKey } from '../log/keys.ts';
import { firstRecorded } from './seal-run.ts';

/** Finds the time of the first event or entry not yet covered by a record, milliseconds since the epoch; undefined: all is covered. */
export type ReadUnsealedSince = () => Promise<number | undefined>;

const runsAtOnce = 500;
/** Recently ended runs are not in the index of active runs. */
const newestLookedAt = 200;
/** The number of logs read in one call. The remaining logs are next. */
const mostLogs = 50;

/**
 * Looks at active runs and the newest runs of each tenant. A log is read only after growing since the last time: most events behind a
 * cursor need no record.
 */
export function openUnsealedSince(redis: Redis): ReadUnsealedSince {
  let known = new Map<string, { place: string; since: number | undefined }>();
  return async () => {
    const next: typeof known = new Map();
    let left = mostLogs;
    let since = await firstEntry(redis);
    for await (const ids of idsToLookAt(redis)) {
      for (const { id, seq, sealed } of await readBehind(redis, ids)) {
        const place = `${seq}/${sealed}`;
        let found = known.get(id);
        if (found?.place !== place) {
          if (left === 0) continue;
          left--;
          const time = await firstRecorded({ redis }, id, sealed);
          found = { place, since: time === undefined ? undefined : Date.parse(time) };
        }
        next.set(id, found);
        since = earlier(since, found.since);
      }
    }
    known = next;
    return since;
  };
}

async function* idsToLookAt(redis: Redis): AsyncGenerator<string[]> {
  yield* pagesOf(redis, activeIndex, runsAtOnce);
  for (const tenant of await listTenants(redis)) {
    const ids = await idsBefore(redis, runIndexOf(tenant), undefined, newestLookedAt);
    if (ids.length > 0) yield ids;
  }
}

async function readBehind(redis: Redis, ids: readonly string[]) {
  const commands = ids.map((id) => ['hget', stateKey(id), runField.seq.name]);
  const [cursors, replies] = await Promise.all([redis.hmget(auditCursorsKey, ...ids), redis.pipeline(commands).exec()]);
  return ids
    .map((id, at) => ({ id, seq: Number(replies?.[at]?.[1] ?? 0), sealed: Number(cursors[at] ?? 0) }))
    .filter(({ seq, sealed }) => seq > sealed);
}

async function firstEntry(redis: Redis): Promise<number | undefined> {
  const [text] = await redis.lrange(auditEntriesKey, 0, 0);
  return text === undefined ? undefined : Date.parse(auditEntrySchema.parse(JSON.parse(text)).time);
}

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : Math.min(one, other ?? one);
