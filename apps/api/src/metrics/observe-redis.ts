import { probeWrite, readUsage } from '@holdpoint/engine/redis';
import type { Metrics } from '@holdpoint/telemetry';
import type { Redis } from 'ioredis';
import { atMostOften } from './at-most.ts';

/** Memory, append-only file and answers of Redis. */
export function observeRedis(metrics: Metrics, { redis, now }: { redis: Redis; now: () => number }): void {
  const usage = atMostOften(() => readUsage(redis).catch(() => undefined));
  const isWritable = atMostOften(() =>
    probeWrite(redis, now()).then(
      () => true,
      () => false,
    ),
  );
  const gauge = (read: (found: NonNullable<Awaited<ReturnType<typeof usage>>>) => number | undefined) => async () => {
    const found = await usage();
    const value = found && read(found);
    return value === undefined ? [] : [{ value }];
  };
  metrics.observe('redisUp', async () => [{ value: (await usage()) === undefined ? 0 : 1 }]);
  metrics.observe('redisWritable', async () => [{ value: (await isWritable()) ? 1 : 0 }]);
  metrics.observe(
    'redisMemory',
    gauge(({ memory }) => memory),
  );
  metrics.observe(
    'redisMemoryLimit',
    gauge(({ memoryLimit }) => memoryLimit),
  );
  metrics.observe(
    'logSize',
    gauge(({ dataset }) => dataset),
  );
  metrics.observe(
    'aofEnabled',
    gauge(({ aof }) => Number(aof.enabled)),
  );
  metrics.observe(
    'aofSize',
    gauge(({ aof }) => aof.size),
  );
  metrics.observe(
    'aofDelayed',
    gauge(({ aof }) => aof.delayed),
  );
  metrics.observe('aofOk', async () => {
    const found = await usage();
    if (found === undefined) return [];
    const { writeOk, rewriteOk } = found.aof;
    return [
      { value: Number(writeOk), labels: { operation: 'write' } },
      { value: Number(rewriteOk), labels: { operation: 'rewrite' } },
    ];
  });
}
