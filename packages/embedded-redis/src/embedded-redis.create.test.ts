import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedRedis, stopEmbeddedRedis } from './embedded-redis.ts';
import { installedBinaries } from './testing/test-redis.ts';

let binaries: string[];
let dataDir: string;

beforeAll(async () => {
  binaries = await installedBinaries();
});
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'holdpoint-redis-'));
});
afterEach(async () => {
  await stopEmbeddedRedis({ dataDir });
  await rm(dataDir, { recursive: true, force: true });
});

const start = () => startEmbeddedRedis({ dataDir, binaries });
const rejects = (call: Promise<unknown>, code: string, more: object = {}) =>
  expect(call).rejects.toMatchObject({ code, ...more });

async function withClient<T>(socket: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(socket, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** Kills the server and waits until its connections close: then it is gone. */
async function killServer(server: { path: string; pid: number }): Promise<void> {
  await withClient(server.path, async (client) => {
    await client.ping();
    const closed = once(client, 'close');
    process.kill(server.pid, 'SIGKILL');
    await closed;
  });
}

test.each(['', '\0\0\0'])('starts when a power failure left the engine record blank: %j', async (text) => {
  const first = await start();
  await withClient(first.path, (client) => client.set('a', '1'));
  await killServer(first);
  await writeFile(path.join(dataDir, 'redis/engine.json'), text);
  const second = await start();
  expect(await withClient(second.path, (client) => client.get('a'))).toBe('1');
  expect(JSON.parse(await readFile(path.join(dataDir, 'redis/engine.json'), 'utf8'))).toMatchObject({
    engine: second.engine,
  });
});

test('refuses data with a damaged engine record', async () => {
  const server = await start();
  await server.stop();
  await writeFile(path.join(dataDir, 'redis/engine.json'), '{"engine":');
  await rejects(start(), 'redis_engine_unknown');
  await rm(path.join(dataDir, 'redis/engine.json'));
});

describe('a new data directory', () => {
  test('gets a server without TCP port that acknowledges only what is on disk', async () => {
    const server = await start();
    expect(server.reused).toBe(false);
    await withClient(server.path, async (client) => {
      expect(await client.set('a', '1')).toBe('OK');
      const settings = async (name: string) => (await client.config('GET', name)) as string[];
      expect(await settings('port')).toEqual(['port', '0']);
      expect(await settings('appendonly')).toEqual(['appendonly', 'yes']);
      expect(await settings('appendfsync')).toEqual(['appendfsync', 'always']);
      expect(await settings('save')).toEqual(['save', '']);
      expect(await settings('maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    });
  });

  test('is private to the user, with its socket', async () => {
    const server = await start();
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(dataDir, 'redis'))).mode & 0o777).toBe(0o700);
    expect((await stat(server.path)).mode & 0o777).toBe(0o700);
  });

  test('with a long path gets its socket in a private folder under /tmp, every time', async () => {
    const parent = dataDir;
    dataDir = path.join(parent, 'd'.repeat(120));
    try {
      const first = await start();
      expect(path.dirname(first.path)).toBe(`/tmp/holdpoint-${process.getuid?.()}`);
      expect((await stat(path.dirname(first.path))).mode & 0o777).toBe(0o700);
      expect(await start()).toMatchObject({ path: first.path, pid: first.pid, reused: true });
      await first.stop();
    } finally {
      await rm(parent, { recursive: true, force: true });
    }
  });

  test('gets a server in its own process group, out of reach of Ctrl-C', async () => {
    const { pid } = await start();
    const ours = await processGroup(process.pid);
    expect(await processGroup(pid)).toBe(String(pid));
    expect(ours).not.toBe(String(pid));
  });
});

describe('a server that was killed', () => {
  test('has every acknowledged write at the next start', async () => {
    const first = await start();
    await withClient(first.path, (client) => client.set('kept', 'yes'));
    await killServer(first);
    const second = await start();
    expect(second.reused).toBe(false);
    expect(second.pid).not.toBe(first.pid);
    expect(await withClient(second.path, (client) => client.get('kept'))).toBe('yes');
  });

  test('loses only the write that was cut in the middle', async () => {
    const first = await start();
    await withClient(first.path, (client) => client.set('kept', 'yes'));
    await killServer(first);
    await appendFile(await lastAppendOnlyFile(), '*3\r\n$3\r\nSET\r\n$4\r\ntorn\r\n$10\r\nhal');
    const second = await start();
    await withClient(second.path, async (client) => {
      expect(await client.get('kept')).toBe('yes');
      expect(await client.exists('torn')).toBe(0);
    });
  });
});

describe('a server that runs already', () => {
  test('is reused', async () => {
    const first = await start();
    expect(await start()).toMatchObject({ pid: first.pid, reused: true });
  });

  test('is found after the process that started it was killed', async () => {
    const starter = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { startEmbeddedRedis } from ${JSON.stringify(new URL('./embedded-redis.ts', import.meta.url).href)};
         const server = await startEmbeddedRedis(${JSON.stringify({ dataDir, binaries })});
         process.stdout.write(String(server.pid));
         setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(starter, 'exit').then(([code]) => Promise.reject(new Error(`the starter ended with ${code}`)));
    const [pid] = await Promise.race([once(starter.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    starter.kill('SIGKILL');
    await once(starter, 'exit');
    expect(await start()).toMatchObject({ pid: Number(String(pid)), reused: true });
  });

  test('is the only one when many start at once', async () => {
    const servers = await Promise.all(Array.from({ length: 8 }, start));
    expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
    expect(servers.filter(({ reused }) => !reused)).toHaveLength(1);
  });

  test('is not started a second time when its socket is deleted', async () => {
    const server = await start();
    await rm(server.path);
    try {
      await expect(startEmbeddedRedis({ dataDir, binaries, signal: AbortSignal.timeout(500) })).rejects.toThrow(
        /abort|timeout/i,
      );
      expect(await recordedPid()).toBe(server.pid);
    } finally {
      process.kill(server.pid, 'SIGKILL');
    }
  });
});

describe('a stopped server', () => {
  test('keeps its data for the next start', async () => {
    const server = await start();
    await withClient(server.path, (client) => client.rpush('list', 'a', 'b'));
    await server.stop();
    expect(existsSync(server.path)).toBe(false);
    const again = await start();
    expect(again.reused).toBe(false);
    expect(await withClient(again.path, (client) => client.lrange('list', 0, -1))).toEqual(['a', 'b']);
  });

  test('is reported once: the next stop finds none', async () => {
    await start();
    expect(await stopEmbeddedRedis({ dataDir })).toBe(true);
    expect(await stopEmbeddedRedis({ dataDir })).toBe(false);
    expect(await stopEmbeddedRedis({ dataDir: path.join(dataDir, 'nowhere') })).toBe(false);
  });
});

describe('a start ignores', () => {
  test('the files of a start that was killed', async () => {
    const dead = spawn('true');
    await once(dead, 'exit');
    await symlink(`${dead.pid}@${hostname()}`, path.join(dataDir, 'redis.starting'));
    await symlink(`${dead.pid}@${hostname()}`, path.join(dataDir, 'redis.starting.break'));
    await writeFile(path.join(dataDir, 'redis.sock'), '');
    await mkdir(path.join(dataDir, 'redis'), { recursive: true });
    await writeFile(path.join(dataDir, 'redis/server.pid'), `${dead.pid}\n`);
    expect(await start()).toMatchObject({ reused: false });
  });

  test('a recorded process id that another process has now', async () => {
    await mkdir(path.join(dataDir, 'redis'), { recursive: true });
    await writeFile(path.join(dataDir, 'redis/server.pid'), `${process.pid}\n`);
    expect(await start()).toMatchObject({ reused: false });
  });
});

describe('a start is refused', () => {
  test('with data of a newer server', async () => {
    const { engine } = await start();
    await stopEmbeddedRedis({ dataDir });
    await writeFile(path.join(dataDir, 'redis/engine.json'), JSON.stringify({ engine, version: '99.0.0' }));
    await rejects(start(), 'redis_engine_changed', { next: expect.stringContaining('99.0.0') });
  });

  test('without a binary that runs', async () => {
    await rejects(startEmbeddedRedis({ dataDir, binaries: [] }), 'redis_not_found');
    await rejects(startEmbeddedRedis({ dataDir, binaries: ['/bin/false'] }), 'redis_not_found');
  });

  test('with damaged data, and shows the end of the log', async () => {
    await start();
    await withClient(path.join(dataDir, 'redis.sock'), (client) => client.set('a', 'b'));
    await stopEmbeddedRedis({ dataDir });
    const file = await lastAppendOnlyFile();
    await writeFile(file, `not a command\r\n${await readFile(file, 'utf8')}`);
    await rejects(start(), 'redis_did_not_start', { message: expect.stringContaining('Bad file format') });
  });

  test('when it is aborted before it begins', async () => {
    await expect(startEmbeddedRedis({ dataDir, binaries, signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(await readdir(dataDir)).toEqual([]);
  });
});

async function lastAppendOnlyFile(): Promise<string> {
  const directory = path.join(dataDir, 'redis/appendonlydir');
  const files = (await readdir(directory)).filter((file) => file.endsWith('.incr.aof')).sort();
  return path.join(directory, files.at(-1) ?? '');
}

async function recordedPid(): Promise<number> {
  return Number(await readFile(path.join(dataDir, 'redis/server.pid'), 'utf8'));
}

async function processGroup(pid: number): Promise<string> {
  const ps = spawn('ps', ['-o', 'pgid=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(ps.stdout, 'data');
  return String(text).trim();
}
