import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@holdpoint/client';
import { whyCopies } from '@holdpoint/workspace/trees';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readKey } from '../connection.ts';
import { checkRedis } from '../doctor/check-redis.ts';
import { readConfig } from '../shell/index.ts';
import { identify, isAlive, type ProcessIdentity, readSystemRecord } from '../system/index.ts';
import { call, type Running, start } from '../testing/cli.ts';

const readySchema = z.object({ address: z.url(), key_file: z.string() });
const main = fileURLToPath(new URL('../main.ts', import.meta.url));

let root: string;
let dataDir: string;
let env: Record<string, string>;
let started: (Running | ChildProcess)[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hp-survive-'));
  dataDir = join(root, 'data');
  env = {
    HOLDPOINT_DATA: dataDir,
    HOLDPOINT_PORT: '0',
    HOLDPOINT_LOCK_MS: '2000',
    HOLDPOINT_STALLED_MS: '1000',
    HOLDPOINT_SWEEP_MS: '1000',
    HOLDPOINT_DRAIN_MS: '500',
  };
  started = [];
});
afterEach(async () => {
  await call(['down'], env);
  for (const one of started) ('child' in one ? one.child : one).kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

async function up() {
  const running = start(['up', '--json'], env);
  started.push(running);
  let said = '';
  running.child.stderr?.on('data', (text) => {
    said += text;
  });
  const ready = readySchema.parse(JSON.parse(await running.firstLine));
  const client = createClient({ baseUrl: ready.address, key: readKey(ready.key_file) });
  return { ...running, client, said: () => said };
}

const redisPid = (): number => Number(readFileSync(join(dataDir, 'redis/server.pid'), 'utf8'));
const childOf = (name: string): ProcessIdentity => {
  const child = readSystemRecord(dataDir)?.children.find((one) => one.name === name);
  if (child === undefined) throw new Error(`no ${name} is recorded`);
  return child;
};
const soon = { timeout: 30_000 };

it('restarts a killed Redis, and runs finish', async () => {
  const { client, child, said } = await up();
  const plan = {
    groups: ['sleep 1; echo a >> counter', 'cat counter'].map((command) => ({
      steps: [{ tool: 'bash', args: { command } }],
    })),
  };
  const { run } = await client.createRun({ plan });
  await expect.poll(async () => (await client.getRun(run.id)).status, soon).toBe('running');
  const killed = redisPid();
  process.kill(killed, 'SIGKILL');
  await expect.poll(redisPid, soon).not.toBe(killed);
  await expect.poll(() => client.ready().catch(() => undefined), soon).toMatchObject({ workers: 1 });
  const done = await client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) });
  expect(done.status).toBe('succeeded');
  expect(JSON.stringify((await client.listSteps(run.id)).data.at(-1)?.result)).toContain('"a\\n"');
  expect(said()).toContain('redis     restarted');
  expect(child.exitCode).toBeNull();
  await client.close();
});

it('a second start and doctor report a Redis that hangs', async () => {
  const { client, child } = await up();
  const pid = redisPid();
  process.kill(pid, 'SIGSTOP');
  try {
    const failure = await client.listRuns().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'redis_timeout', status: 503 });
    const second = await call(['up', '--json'], env);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout)).toMatchObject({
      error: { code: 'not_ready', message: expect.stringContaining('its Redis does not answer') },
    });
    const [finding] = await checkRedis(readConfig(env, root), true);
    expect(finding).toMatchObject({ level: 'fail', text: expect.stringContaining('no answer from') });
    expect(finding?.next).not.toContain('REDIS_URL');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await expect.poll(() => client.ready().catch(() => undefined), soon).toMatchObject({ status: 'ready' });
  expect(await call(['up', '--json'], env)).toMatchObject({ code: 0 });
  expect(child.exitCode).toBeNull();
  await client.close();
});

it('a worker that keeps dying does not stop the API', async () => {
  const { client, child, said } = await up();
  const api = childOf('api');
  for (let death = 1; death <= 5; death++) {
    const worker = childOf('worker-1');
    process.kill(worker.pid, 'SIGKILL');
    // The pause after the last death is long: the test does not wait for it.
    if (death < 5) await expect.poll(() => childOf('worker-1').pid, soon).not.toBe(worker.pid);
  }
  await expect.poll(said, soon).toContain('worker-1 ended 5 times in a row');
  expect(isAlive(api)).toBe(true);
  expect((await client.ready()).status).toBe('ready');
  expect(child.exitCode).toBeNull();
  await client.close();
});

describe.skipIf((await whyCopies({ setting: 'auto', dataDir: tmpdir() })) !== undefined)('trees on layers', () => {
  const mounts = () =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(dataDir))
      .map((line) => ({ device: line.split(' ')[2] ?? '', point: line.split(' ')[4] ?? '' }));
  afterEach(() => {
    for (const { point } of mounts()) execFileSync('umount', ['-l', point]);
  });

  /** Whether a process has it that is not of this test: a sandbox below a closed home keeps a copy of all mounts of the host. */
  const isUsedElsewhere = (device: string): boolean => {
    const own = readlinkSync('/proc/self/ns/mnt');
    return readdirSync('/proc').some((pid) => {
      try {
        return (
          /^\d+$/.test(pid) &&
          readlinkSync(`/proc/${pid}/ns/mnt`) !== own &&
          readFileSync(`/proc/${pid}/mountinfo`, 'latin1').includes(` ${device} `)
        );
      } catch {
        return false; // it has ended
      }
    });
  };

  it.each(['down', 'kill, then down'])('%s leaves no unused tree mounted', async (end) => {
    env.HOLDPOINT_LAYERS = 'always';
    const source = join(root, 'source');
    mkdirSync(source);
    writeFileSync(join(source, 'a.txt'), 'a\n');
    const { client, child } = await up();
    const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'cat a.txt' } }] }] };
    const { run } = await client.createRun({ plan, workspace: { source: { type: 'directory', path: source } } });
    expect(await client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) })).toMatchObject({
      status: 'succeeded',
    });
    expect(mounts()).toHaveLength(1);
    if (end !== 'down') {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    const left = async () => {
      expect((await call(['down'], env)).code).toBe(0);
      return mounts().filter(({ device }) => !isUsedElsewhere(device));
    };
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
    await client.close();
  });
});

it('closing the terminal stops the API, the workers and Redis', async () => {
  // A new session with a controlling terminal, as in a terminal window. The first line on stdin closes the terminal.
  const terminal = `
import os, pty, select, sys, threading
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
def drain():
    # A thread that waits in read() would keep the terminal open.
    try:
        while True:
            if select.select([master], [], [], 0.05)[0]: os.read(master, 65536)
    except (OSError, ValueError): pass
threading.Thread(target=drain, daemon=True).start()
sys.stdin.readline()
os.close(master)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
`;
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOLDPOINT_|REDIS_URL|NODE_|VITEST)/.test(name));
  const window = spawn('python3', ['-c', terminal, process.execPath, main, 'up', '--workers', '2'], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(window);
  const address = () => readSystemRecord(dataDir)?.address ?? undefined;
  await expect.poll(address, { timeout: 60_000 }).toBeDefined();
  const record = readSystemRecord(dataDir);
  const redis = identify(redisPid());
  if (record === undefined || redis === undefined) throw new Error('the system does not run');
  const ended = once(window.stdout, 'data');
  window.stdin.write('close\n');
  expect(Number(String((await ended)[0]))).toBe(0);
  expect([record, redis, ...record.children].filter(isAlive)).toEqual([]);
  expect(readSystemRecord(dataDir)).toBeUndefined();
  expect(readFileSync(join(dataDir, 'logs/worker-1.log'), 'utf8')).toContain('worker ended; nothing is lost');
});
