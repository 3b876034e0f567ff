import { type IdKind, idPrefixes } from '@holdpoint/contract';
import type { ChainableCommander, Redis } from 'ioredis';
import { newId } from '../domain/new-id.ts';
import { lookSoon } from '../log/indexes.ts';
import { auditCursorsKey, idleFactsKey, logKey, lookIndex, ownerKey, stateKey } from '../log/keys.ts';
import { readStored } from '../log/recorded-event.ts';
import { toStored } from '../log/stored-event.ts';
import { queueNames, queuePrefix } from '../queues/queues.ts';

const idText = /\b(run|step|apr|evt|msg|task)_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const kindOf = new Map<string, IdKind>(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind]));
const atOnce = 100;

/**
 * Makes as many copies of a parked run as a bench needs: a parked run costs milliseconds, a copy 0.1 ms. Each copy has ids of its own, its log, its
 * state, its parked jobs and its entries in the indexes. It has no files.
 * @returns the ids of the copies
 */
export async function copyRun(redis: Redis, runId: string, times: number): Promise<string[]> {
  const [state, log, sealed] = await Promise.all([
    redis.hgetall(stateKey(runId)),
    redis.xrange(logKey(runId), '-', '+'),
    redis.hget(auditCursorsKey, runId),
  ]);
  const events = log.map(([id, [, text = '']]) => ({
    id,
    text: JSON.stringify(readStored(runId, Number.parseInt(id, 10), text)),
  }));
  const ids = [...new Set([JSON.stringify(state), JSON.stringify(events)].join().match(idText) ?? [])];
  const [jobs, entries] = await Promise.all([parkedJobs(redis, ids), entriesOf(redis, ids)]);
  const made: string[] = [];
  for (let from = 0; from < times; from += atOnce) {
    const pipeline = redis.pipeline();
    for (let n = from; n < Math.min(times, from + atOnce); n++) {
      const renamed = new Map(ids.map((id) => [id, newId(kindOf.get(id.slice(0, id.indexOf('_'))) ?? 'run')]));
      const rename = (text: string): string => text.replaceAll(idText, (id) => renamed.get(id) ?? id);
      const copy = rename(runId);
      pipeline.hset(stateKey(copy), Object.fromEntries(Object.entries(state).map((pair) => pair.map(rename))));
      for (const { id, text } of events) pipeline.xadd(logKey(copy), id, 'e', toStored(JSON.parse(rename(text))));
      if (sealed !== null) pipeline.hset(auditCursorsKey, copy, sealed);
      for (const job of jobs) addJob(pipeline, job, rename);
      for (const { key, member, score, value } of entries) {
        if (score !== undefined) pipeline.zadd(rename(key), score, rename(member));
        else pipeline.hset(rename(key), rename(member), rename(value ?? ''));
      }
      for (const id of ids) if (/^(step|apr)_/.test(id)) pipeline.set(ownerKey(rename(id)), copy);
      made.push(copy);
    }
    await pipeline.exec();
    await Promise.all(made.slice(from).map((id) => lookSoon(redis, id)));
  }
  return made;
}

interface Entry {
  key: string;
  member: string;
  /** In a sorted set; without it the entry is in a hash. */
  score?: string;
  value?: string;
}

/** Where these ids are in indexes and lists. What the sweeper knows of a run is of that run alone. */
async function entriesOf(redis: Redis, ids: readonly string[]): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const pattern of ['hp:index:*', 'hp:{runs:*', 'hp:{approvals:*', 'hp:{decisions:*']) {
    for (const key of await redis.keys(pattern)) {
      if (key === lookIndex || key === idleFactsKey) continue;
      const type = await redis.type(key);
      for (const member of ids) {
        const score = type === 'zset' ? await redis.zscore(key, member) : null;
        const value = type === 'hash' ? await redis.hget(key, member) : null;
        if (score !== null) found.push({ key, member, score });
        if (value !== null) found.push({ key, member, value });
      }
    }
  }
  return found;
}

interface ParkedJob {
  key: string;
  fields: Record<string, string>;
  delayed: string;
  score: string;
}

async function parkedJobs(redis: Redis, ids: readonly string[]): Promise<ParkedJob[]> {
  const found: ParkedJob[] = [];
  for (const id of ids) {
    const [key, delayed] = [`${queuePrefix}:${queueNames.steps}:${id}`, `${queuePrefix}:${queueNames.steps}:delayed`];
    const score = await redis.zscore(delayed, id);
    if (score !== null) found.push({ key, fields: await redis.hgetall(key), delayed, score });
  }
  return found;
}

function addJob(pipeline: ChainableCommander, job: ParkedJob, rename: (text: string) => string): void {
  const id = rename(job.key.slice(job.key.lastIndexOf(':') + 1));
  pipeline.hset(rename(job.key), Object.fromEntries(Object.entries(job.fields).map((pair) => pair.map(rename))));
  pipeline.zadd(job.delayed, job.score, id);
}
