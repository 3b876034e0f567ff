import type { Redis } from 'ioredis';

/** A job waiting for a slot. */
export interface WaitingJob {
  id: string;
  /** 0: before all other jobs. */
  priority: number;
  run: string;
}

/** BullMQ scores a waiting job by its priority, plus 32 bits for the order. */
const scoreUnit = 0x100000000;
const perRound = 500;

/** By queue: the runs of the waiting jobs at the last look. */
const known = new WeakMap<object, Map<string, string>>();

/** The waiting jobs of a queue, in the order of their begin. */
export async function readWaiting(redis: Redis, queue: { toKey(type: string): string }): Promise<WaitingJob[]> {
  const [first, scored] = await Promise.all([
    redis.lrange(queue.toKey('wait'), 0, -1),
    redis.zrange(queue.toKey('prioritized'), '0', '-1', 'WITHSCORES'),
  ]);
  const order = first.toReversed().map((id) => ({ id, priority: 0 }));
  for (let at = 0; at < scored.length; at += 2) {
    order.push({ id: scored[at] as string, priority: Math.floor(Number(scored[at + 1]) / scoreUnit) });
  }
  const runs = await runsOf(redis, queue, order);
  return order.flatMap((job) => {
    const run = runs.get(job.id);
    return run === undefined ? [] : [{ ...job, run }];
  });
}

async function runsOf(
  redis: Redis,
  queue: { toKey(type: string): string },
  jobs: readonly { id: string }[],
): Promise<Map<string, string>> {
  const former = known.get(queue);
  const runs = new Map<string, string>();
  for (let at = 0; at < jobs.length; at += perRound) {
    const some = jobs.slice(at, at + perRound);
    const found = await Promise.all(some.map(async ({ id }) => former?.get(id) ?? runOf(redis, queue, id)));
    for (const [index, run] of found.entries()) if (run !== undefined) runs.set(some[index]?.id ?? '', run);
  }
  known.set(queue, runs);
  return runs;
}

/** @returns undefined when the job is gone */
async function runOf(redis: Redis, queue: { toKey(type: string): string }, id: string): Promise<string | undefined> {
  const data = await redis.hget(queue.toKey(id), 'data');
  return data === null ? undefined : (JSON.parse(data) as { run_id: string }).run_id;
}
