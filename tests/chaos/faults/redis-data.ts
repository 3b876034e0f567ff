import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { queuePrefix } from '@holdpoint/engine/worker';
import { Redis } from 'ioredis';
import type { System } from '../../harness/system.ts';
import type { Fault } from './fault.ts';

/** Redis loses about the last second of acknowledged writes, as after a failover to a lagging replica. */
export const loseTail: Fault = async ({ system, ledger, random }) => {
  const file = appendOnlyFile(system);
  const { size } = statSync(file);
  const from = Date.now();
  await pause(random.integer(300, 1200));
  await system.redis.kill();
  // After a rewrite Redis uses another file, and nothing is lost.
  if (appendOnlyFile(system) === file) truncateSync(file, size);
  await system.redis.start();
  ledger.lost.push({ from, to: Date.now() });
};

/** Deletes every key of the queues: wake-ups, parked jobs, schedules. */
export const loseQueues: Fault = ({ system }) =>
  withRedis(system, async (redis) => {
    const keys = await redis.keys(`${queuePrefix}:*`);
    if (keys.length > 0) await redis.unlink(...keys);
  });

/** Redis refuses writes for some seconds: without memory, or as a replica with a dead master. */
export const refuseWrites: Fault = ({ system, ledger, random }) =>
  withRedis(system, async (redis) => {
    const ms = random.integer(2000, 4000);
    const how = random.pick(['no memory', 'read-only'] as const);
    // No server listens on port 1.
    if (how === 'no memory') await redis.config('SET', 'maxmemory', '1');
    else await redis.replicaof('127.0.0.1', 1);
    await pause(ms);
    const saidReady = await system.client.ready().then(
      () => true,
      () => false,
    );
    ledger.refusals.push({ how, saidReady });
    if (how === 'no memory') await redis.config('SET', 'maxmemory', '0');
    else await redis.replicaof('NO', 'ONE');
  });

function appendOnlyFile({ dataDir }: System): string {
  const folder = join(dataDir, 'redis/appendonlydir');
  const number = (name: string): number => Number(name.split('.').at(-3));
  const files = readdirSync(folder).filter((name) => name.endsWith('.incr.aof'));
  const [newest = ''] = files.sort((a, b) => number(b) - number(a));
  return join(folder, newest);
}

async function withRedis(system: System, work: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(system.redis.address, { maxRetriesPerRequest: 3 });
  redis.on('error', () => undefined);
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}
