import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { killWithParent } from './kill-with-parent.ts';
import { installedBinaries } from './test-redis.ts';

/** A Redis with any settings, as a user may have one. */
export interface PlainRedis {
  /** For REDIS_URL. */
  address: string;
  pid: number;
  /** A connection of its own, apart from the code under test. */
  admin: Redis;
  stop(): Promise<void>;
}

/** @param settings for example `{ appendonly: 'no' }`; without `port` it listens on a unix socket only */
export async function startPlainRedis(settings: Readonly<Record<string, string>> = {}): Promise<PlainRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'hp-redis-'));
  const [binary] = await installedBinaries();
  if (binary === undefined) throw new Error('no Redis is installed');
  const socket = join(directory, 'redis.sock');
  const all = { port: '0', unixsocket: socket, dir: directory, save: '', ...settings };
  const child: ChildProcess = spawn(
    binary,
    Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: 'ignore' },
  );
  if (child.pid !== undefined) killWithParent(child.pid);
  const ended = once(child, 'exit');
  const admin = new Redis(socket, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  admin.on('error', () => undefined);
  await Promise.race([admin.ping(), ended.then(() => Promise.reject(new Error('Redis ended')))]);
  return {
    address: settings.port === undefined ? socket : `redis://127.0.0.1:${settings.port}`,
    pid: child.pid ?? 0,
    admin,
    async stop() {
      admin.disconnect();
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
