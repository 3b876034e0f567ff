import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Redis } from 'ioredis';

/** Per unit of work. */
export interface RedisWork {
  /** Messages read by the server from its clients. The commands of a pipeline are a single message. */
  messages: number;
  /** CPU of this process, and of the server, in milliseconds. */
  ownMs: number;
  serverMs: number;
}

/** The work of this process and of the server during `act`, divided by `units`. */
export async function redisWork(redis: Redis, units: number, act: () => Promise<unknown>): Promise<RedisWork> {
  const before = await readServer(redis);
  const own = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(own);
  const after = await readServer(redis);
  return {
    messages: (after.messages - before.messages) / units,
    ownMs: (user + system) / 1000 / units,
    serverMs: ((after.cpu - before.cpu) * 1000) / units,
  };
}

async function readServer(redis: Redis): Promise<{ messages: number; cpu: number; pid: number }> {
  const text = await redis.info();
  const read = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return {
    messages: read('total_reads_processed'),
    cpu: read('used_cpu_user') + read('used_cpu_sys'),
    pid: read('process_id'),
  };
}

/** How often the server waits for its disk during `act`. strace slows the server down, so no times are taken. Undefined without strace. */
export async function countSyncs(redis: Redis, act: () => Promise<unknown>): Promise<number | undefined> {
  const { pid } = await readServer(redis);
  const options = ['-f', '-c', '-U', 'name,calls', '-e', 'trace=fsync,fdatasync', '-p', String(pid)];
  const strace = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const attached = Promise.withResolvers<void>();
  strace.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.includes('attached')) attached.resolve();
  });
  const ended = once(strace, 'close').then(
    () => undefined,
    () => undefined,
  );
  // Without strace, or without the right to trace, the tracer ends immediately.
  await Promise.race([attached.promise, ended]);
  if (!said.includes('attached')) return undefined;
  await act();
  strace.kill('SIGINT');
  await ended;
  return [...said.matchAll(/^f(?:data)?sync\s+(\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}
