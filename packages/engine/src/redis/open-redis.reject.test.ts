import { createServer } from 'node:net';
import { type PlainRedis, startPlainRedis } from '@holdpoint/embedded-redis/testing';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, openRedis } from './connect.ts';
import { probeWrite } from './judge-server.ts';
import { redisTrouble } from './trouble.ts';

let servers: PlainRedis[];
beforeEach(() => {
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.stop();
});

const lines: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
const silent = pino({ level: 'silent' });

async function server(settings: Record<string, string>): Promise<PlainRedis> {
  const started = await startPlainRedis(settings);
  servers.push(started);
  return started;
}

async function open(settings: Record<string, string>): Promise<void> {
  const { address } = await server(settings);
  const connections = await openRedis({ address, patienceMs: 0 }, logger);
  await connections.close();
}

/** A port below 55,000: the bus of a cluster has a port 10,000 above it. */
async function freePort(): Promise<string> {
  for (;;) {
    const listener = createServer();
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
    const address = listener.address();
    await new Promise((closed) => listener.close(closed));
    if (typeof address === 'object' && address !== null && address.port < 55_000) return String(address.port);
  }
}

describe('refuses a server that would lose runs', () => {
  test.each([
    ['appendonly no', { appendonly: 'no' }, 'appendonly'],
    ['an evicting policy', { appendonly: 'yes', 'maxmemory-policy': 'allkeys-lru' }, 'maxmemory-policy'],
  ])('%s', async (_name, settings, word) => {
    await expect(open(settings)).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringContaining(word),
      next: expect.stringContaining(`CONFIG SET ${word}`),
    });
  });

  test('a Redis Cluster, by its name', async () => {
    const port = await freePort();
    const settings = { 'cluster-enabled': 'yes', appendonly: 'yes', port, bind: '127.0.0.1' };
    await expect(open(settings)).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringContaining('Redis Cluster'),
      next: expect.stringContaining('REDIS_URL'),
    });
  });
});

describe('accepts a server', () => {
  test('with everysec, and warns', async () => {
    lines.splice(0);
    await open({ appendonly: 'yes', appendfsync: 'everysec' });
    expect(lines.join('')).toContain('a power failure may lose');
  });

  test('without CONFIG, and warns about what it could not check', async () => {
    const { admin } = await server({ appendonly: 'yes', appendfsync: 'always' });
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config');
    lines.splice(0);
    const port = await freePort();
    await admin.config('SET', 'port', port);
    const address = `redis://app:secret@127.0.0.1:${port}`;
    const connections = await openRedis({ address, patienceMs: 5000 }, logger);
    await connections.close();
    expect(lines.join('')).toContain('could not be checked');
    expect(lines.join('')).not.toContain('secret');
  });
});

test('names a server that does not answer without its password', async () => {
  const opening = openRedis({ address: 'redis://me:secret@127.0.0.1:1', patienceMs: 0 }, silent);
  await expect(opening).rejects.toMatchObject({
    code: 'redis_unreachable',
    message: 'Redis does not answer at redis://me:***@127.0.0.1:1.',
  });
});

describe('says why a write is refused', () => {
  const append = { appendonly: 'yes', appendfsync: 'always' };

  async function refusal(prepare: (redis: PlainRedis) => Promise<unknown>): Promise<string | undefined> {
    const plain = await server(append);
    await prepare(plain);
    const connections = connect(plain.address, silent);
    try {
      await connections.state.ping();
      const script = connections.state.eval("return redis.call('SET', KEYS[1], '1')", 1, 'hp:x');
      const inScript = await script.then(
        () => undefined,
        (error: unknown) => redisTrouble(error)?.code,
      );
      const plainly = await probeWrite(connections.state, 0).then(
        () => undefined,
        (error: unknown) => redisTrouble(error)?.code,
      );
      expect(inScript).toBe(plainly);
      return plainly;
    } finally {
      await connections.close();
    }
  }

  test('its memory is full', async () => {
    expect(await refusal(({ admin }) => admin.config('SET', 'maxmemory', '1'))).toBe('redis_full');
  });

  test('it is a replica', async () => {
    expect(await refusal(({ admin }) => admin.replicaof('127.0.0.1', 1))).toBe('redis_read_only');
  });

  test('too few replicas are connected', async () => {
    expect(await refusal(({ admin }) => admin.config('SET', 'min-replicas-to-write', '1'))).toBe(
      'redis_without_replicas',
    );
  });

  test('it hangs: the command fails after its time limit', async () => {
    const plain = await server(append);
    const connections = connect(plain.address, silent, { commandMs: 300 });
    try {
      await connections.state.ping();
      process.kill(plain.pid, 'SIGSTOP');
      const failure = await probeWrite(connections.state, 0).catch((error: unknown) => error);
      expect(redisTrouble(failure)?.code).toBe('redis_timeout');
    } finally {
      process.kill(plain.pid, 'SIGCONT');
      await connections.close();
    }
  });
});
