import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestEngine, type TestEngine } from '../testing/real-redis.ts';
import { openBackend, scoreUnit } from './open-backend.ts';
import { jobPriority } from './queues.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

const token = 'taker';
const mine = 'mine';

/** A number generator with a seed, so that a failure can be made again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** A queue whose first job is taken, and its end: with what lies beside the job, and its losses. */
interface State {
  waiting: number;
  prioritized: number;
  due: number;
  later: number;
  lost: 'nothing' | 'lock' | 'lock of another' | 'job' | 'place among the active' | 'lock, found stalled';
  gate: 'open' | 'paused' | 'full';
  fetchesNext: boolean;
}
const losses: State['lost'][] = ['lock', 'lock of another', 'job', 'place among the active', 'lock, found stalled'];

function grow(random: (below: number) => number): State {
  return {
    waiting: random(3) === 0 ? random(4) : 0,
    prioritized: random(2) === 0 ? random(5) : 0,
    due: random(2) === 0 ? random(4) : 0,
    later: random(3),
    lost: random(3) === 0 ? (losses[random(losses.length)] ?? 'nothing') : 'nothing',
    gate: random(6) === 0 ? (['paused', 'full'] as const)[random(2)] : 'open',
    fetchesNext: random(4) !== 0,
  } as State;
}

/** As of a worker. */
const optionsOf = (connection: Redis, prefix: string) => ({
  ...{ connection, prefix, lockDuration: 600_000 },
  ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
});

async function build(redis: Redis, prefix: string, state: State): Promise<void> {
  const queue = new Queue('jobs', { connection: redis, prefix });
  const key = (type: string): string => queue.toKey(type);
  const add = (jobId: string, options: object) =>
    queue.add('job', { jobId }, { jobId, attempts: 8, removeOnComplete: true, removeOnFail: true, ...options });
  await add(mine, jobPriority);
  await openBackend(redis, { prefix })('jobs', optionsOf(redis, prefix)).moveToActive(token);
  for (let n = 0; n < state.waiting; n++) await add(`waiting-${n}`, {});
  for (let n = 0; n < state.prioritized; n++) await add(`prioritized-${n}`, { priority: 1 + (n % 3) * 9 });
  for (let n = 0; n < state.due; n++) await add(`due-${n}`, { delay: 1, ...(n % 2 === 0 && jobPriority) });
  for (let n = 0; n < state.later; n++) await add(`later-${n}`, { delay: 3_600_000 + n, ...jobPriority });
  if (state.gate === 'paused') await queue.pause();
  if (state.gate === 'full') await queue.setGlobalConcurrency(1);
  if (state.gate === 'full') await redis.lpush(key('active'), 'other');
  if (state.lost === 'lock') await redis.del(key(`${mine}:lock`));
  if (state.lost === 'lock of another') await redis.set(key(`${mine}:lock`), 'other');
  if (state.lost === 'job') await redis.del(key(mine));
  if (state.lost === 'place among the active') await redis.lrem(key('active'), 1, mine);
  if (state.lost === 'lock, found stalled') await redis.sadd(key('stalled'), mine);
  await redis.del(key('marker'));
  await queue.close();
}

/** Ends the taken job. */
async function endMine(redis: Redis, prefix: string, isSilent: boolean, state: State): Promise<unknown> {
  const backend = openBackend(redis, { prefix, isSilent })('jobs', optionsOf(redis, prefix));
  const queue = new Queue('jobs', { connection: redis, prefix });
  const job = (await queue.getJob(mine)) ?? (await queue.getJob('later-0'));
  await queue.close();
  if (job === undefined) return 'no job';
  if (state.lost === 'job') job.id = mine;
  const end = await backend.moveToCompleted(job, undefined, true, token, state.fetchesNext).catch(String);
  return typeof end === 'string' ? end : withoutTimes(end.result);
}

const times = ['processedOn', 'finishedOn', 'timestamp'];
const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (name, inner) => (times.includes(name) ? typeof inner : inner)));

/** All keys of the queue but the wake-ups. */
async function contentOf(redis: Redis, prefix: string): Promise<Record<string, unknown>> {
  const keys = (await redis.keys(`${prefix}:jobs:*`)).sort().map((key) => [key.slice(prefix.length), key] as const);
  const found = keys.filter(([name]) => !/:(marker|unheard)$/.test(name));
  return Object.fromEntries(await Promise.all(found.map(async ([name, key]) => [name, await readKey(redis, key)])));
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return withoutTimes(await redis.hgetall(key));
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'set':
      return (await redis.smembers(key)).sort();
    case 'stream':
      return (await redis.xrange(key, '-', '+')).map((entry) => entry[1]);
    default:
      return redis.get(key);
  }
}

/** Copies all keys of a queue, so that both ends meet the same queue. */
async function copy(redis: Redis, from: string, to: string): Promise<void> {
  for (const key of await redis.keys(`${from}:jobs:*`)) await redis.copy(key, to + key.slice(from.length));
}

/** Ends the same job of the same queue with BullMQ's own backend and with the silent one. */
async function endTwice(redis: Redis, state: State) {
  await redis.flushall();
  await build(redis, 'heard', state);
  await copy(redis, 'heard', 'silent');
  await expect.poll(() => dueIn(redis)).toBe(state.due);
  const replies = [await endMine(redis, 'heard', false, state), await endMine(redis, 'silent', true, state)];
  const contents = [await contentOf(redis, 'heard'), await contentOf(redis, 'silent')];
  return {
    replies,
    contents,
    wakes: await redis.exists('silent:jobs:marker'),
    promoted: state.due - (await dueIn(redis)),
  };
}

const dueIn = (redis: Redis): Promise<number> => redis.zcount('silent:jobs:delayed', 0, Date.now() * scoreUnit);

it.each([1, 2, 3])(
  'a silent end leaves the queue as an end of BullMQ does, and wakes a worker when it promotes (seed %i)',
  async (seed) => {
    const { redis } = engine.deps;
    const random = randomFrom(seed * 7919);
    const seen = new Set<string>();
    for (let round = 0; round < 60; round++) {
      const state = grow(random);
      const { replies, contents, wakes, promoted } = await endTwice(redis, state);
      const told = JSON.stringify(state);
      expect(replies[1], told).toEqual(replies[0]);
      expect(contents[1], told).toEqual(contents[0]);
      if (promoted > 0) expect(wakes, told).toBe(1);
      if (state.due === 0) expect(wakes, told).toBe(0);
      seen.add(`${promoted > 0} ${typeof replies[0]} ${state.gate}`);
    }
    expect(seen).toContain('true object open');
    expect(seen).toContain('false object open');
    expect(seen).toContain('false string open');
  },
  60_000,
);
