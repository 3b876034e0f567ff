import { spawnSync } from 'node:child_process';
import { createECDH } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { readKey } from '../connection.ts';
import { findSystem, isAlive, readSystemRecord, type SystemRecord } from '../system/index.ts';
import { call, canStart, type Running, start } from '../testing/cli.ts';

/** A plain user. */
const user = { uid: 20_031, gid: 20_031 };

const readySchema = z.object({ address: z.url(), redis: z.string() });

let root: string;
let original: string;
let copy: string;
let started: Running[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hp-copy-'));
  [original, copy] = [join(root, 'original'), join(root, 'copy')];
  started = [];
});
afterEach(async () => {
  for (const dataDir of [original, copy, join(root, 'moved')]) await call(['down'], envOf(dataDir));
  for (const { child } of started) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const envOf = (dataDir: string) => ({ HOLDPOINT_DATA: dataDir, HOLDPOINT_PORT: '0', HOLDPOINT_DRAIN_MS: '500' });
const on = (dataDir: string, ...args: string[]) => call([...args, '--json'], envOf(dataDir));

async function up(dataDir: string, env: Record<string, string> = envOf(dataDir)) {
  const running = start(['up', '--json'], env);
  started.push(running);
  const { address, redis } = readySchema.parse(JSON.parse(await running.firstLine));
  const client = createClient({ baseUrl: address, key: readKey(join(dataDir, 'api-key')) });
  return { ...running, address, redis, client };
}

/** Files that vanish while they are copied are no error here. */
const copyData = (from = original, to = copy): void => {
  spawnSync('cp', ['-a', from, to]);
};

const idOf = (dataDir: string): string => JSON.parse(readFileSync(join(dataDir, 'installation'), 'utf8')).id;
const recordOf = (dataDir: string): SystemRecord => {
  const record = readSystemRecord(dataDir);
  if (record === undefined) throw new Error('no system is recorded');
  return record;
};

/** A run whose first command waits for a person. */
async function parkedRun({ client }: Awaited<ReturnType<typeof up>>) {
  const { run } = await client.createRun({
    plan: {
      groups: [
        { steps: [{ tool: 'write_file', args: { path: 'a.txt', content: 'a' } }] },
        { steps: [{ tool: 'bash', args: { command: 'cat a.txt > b.txt' } }] },
      ],
    },
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  const approval = () => client.listApprovals({ run_id: run.id }).then(({ data }) => data[0]?.id);
  await expect.poll(approval, { timeout: 30_000 }).toBeDefined();
  return { run: run.id, approval: (await approval()) ?? '' };
}

it.each(['running', 'stopped'] as const)(
  'a copy of a %s system reaches the original with no command',
  async (state) => {
    const first = await up(original);
    const { run, approval } = await parkedRun(first);
    let second = first;
    if (state === 'running') copyData();
    else {
      first.child.kill('SIGTERM');
      await first.ended;
      copyData();
      second = await up(original);
    }
    const record = recordOf(original);

    for (const args of [
      ['up'],
      ['runs', 'list'],
      ['approvals', 'list'],
      ['approvals', 'approve', approval],
      ['runs', 'discard', run, '--yes'],
      ['runs', 'cancel', run],
      ['adopt', '--yes'],
      ['migrate', '--yes'],
    ]) {
      const { code, stdout } = await on(copy, ...args);
      expect([args, code !== 0]).toEqual([args, true]);
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: 'installation_copied', next: expect.stringContaining('holdpoint adopt --copy') },
      });
    }
    for (const program of ['api', 'worker']) {
      const { code, stdout, stderr } = await start([program], { ...envOf(copy), REDIS_URL: record.redis_socket ?? '' })
        .ended;
      expect([program, code]).toEqual([program, 1]);
      expect(stdout + stderr).toContain(`is a copy of ${original}`);
    }
    const doctor = await on(copy, 'doctor');
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({ name: 'installation', level: 'fail', text: expect.stringContaining('is a copy of') }),
    );
    expect(JSON.parse((await on(copy, 'down')).stdout)).toMatchObject({ stopped: false, up: false, left_over: 0 });

    expect(recordOf(original)).toEqual(record);
    expect(record.children.every(isAlive)).toBe(true);
    expect((await second.client.getRun(run)).status).toBe('waiting');
    expect((await second.client.getApproval(approval)).status).toBe('pending');
  },
);

const browser = {
  endpoint: 'http://127.0.0.1:9/push',
  keys: { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) },
};

it('`adopt --copy` gives the copy an id, a Redis and a key of its own, and both finish the run', async () => {
  const first = await up(original, { ...envOf(original), HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32' });
  const { run, approval } = await parkedRun(first);
  await first.client.subscribeToPushes(browser);
  copyData();
  const key = readKey(join(copy, 'api-key'));
  const shown = await on(copy, 'adopt', '--copy');
  expect([shown.code, JSON.parse(shown.stdout).adopted]).toEqual([1, false]);
  const adopted = await on(copy, 'adopt', '--copy', '--yes');
  expect(adopted.code).toBe(0);
  expect(idOf(copy)).toBe(JSON.parse(adopted.stdout).id);
  expect(idOf(copy)).not.toBe(idOf(original));

  const second = await up(copy);
  expect(second.address).not.toBe(first.address);
  expect(readKey(join(copy, 'api-key'))).not.toBe(key);
  const ask = (address: string, text: string) =>
    fetch(`${address}/v1/runs`, { headers: { authorization: `Bearer ${text}` } }).then(({ status }) => status);
  expect(await ask(second.address, key)).toBe(401);
  expect(await ask(first.address, readKey(join(copy, 'api-key')))).toBe(401);
  expect(await first.client.listPushSubscriptions()).toHaveLength(1);
  expect(await second.client.listPushSubscriptions()).toEqual([]);
  expect(await second.client.getPushKey()).not.toEqual(await first.client.getPushKey());

  const { action_digest: digest } = await first.client.getApproval(approval);
  const approve = (dataDir: string) => on(dataDir, 'approvals', 'approve', approval, '--digest', digest);
  expect((await approve(copy)).code).toBe(0);
  const status = (of: typeof first) => of.client.getRun(run).then((read) => read.status);
  await expect.poll(() => status(second), { timeout: 30_000 }).toBe('succeeded');
  expect(await status(first)).toBe('waiting');
  expect((await approve(original)).code).toBe(0);
  await expect.poll(() => status(first), { timeout: 30_000 }).toBe('succeeded');
  expect(JSON.parse((await on(copy, 'down')).stdout)).toMatchObject({ stopped: true, up: true });
  expect(findSystem(original)?.isUp).toBe(true);
});

it('a start on a copy ends no process that a killed `up` of the original has left', async () => {
  const first = await up(original);
  first.child.kill('SIGKILL');
  await first.ended;
  copyData();
  const { children } = recordOf(original);
  rmSync(join(original, 'installation'));
  // The original's place says nothing now, but its processes do.
  expect(JSON.parse((await on(copy, 'up')).stdout)).toMatchObject({ error: { code: 'installation_copied' } });
  expect(JSON.parse((await on(copy, 'adopt', '--copy', '--yes')).stdout)).toMatchObject({ adopted: true });
  const second = await up(copy);
  expect(children.every(isAlive)).toBe(true);
  expect(recordOf(copy).children.some(({ pid }) => children.some((other) => other.pid === pid))).toBe(false);
  second.child.kill('SIGTERM');
  await second.ended;
  expect(children.every(isAlive)).toBe(true);
});

it('a system that is moved while it runs is still found, and a copy in its former place is refused', async () => {
  const first = await up(original);
  copyData();
  renameSync(original, join(root, 'moved'));
  renameSync(copy, original);
  expect(findSystem(join(root, 'moved'))?.isUp).toBe(true);
  expect(findSystem(original)).toBeUndefined();
  expect(JSON.parse((await on(original, 'up')).stdout)).toMatchObject({ error: { code: 'installation_copied' } });
  expect(JSON.parse((await on(join(root, 'moved'), 'down')).stdout)).toMatchObject({ stopped: true, up: true });
  expect((await first.ended).code).toBe(0);
});

it('a stopped system starts where it was restored, through a link, and after a move', async () => {
  const first = await up(original);
  const { run } = await parkedRun(first);
  first.child.kill('SIGTERM');
  await first.ended;
  const id = idOf(original);
  copyData();
  rmSync(original, { recursive: true });
  // Restored elsewhere, as on another machine: the original is not there.
  const starts = async (dataDir: string) => {
    const system = await up(dataDir);
    expect((await system.client.getRun(run)).status).toBe('waiting');
    system.child.kill('SIGTERM');
    expect((await system.ended).code).toBe(0);
  };
  symlinkSync(copy, join(root, 'link'));
  await starts(join(root, 'link'));
  renameSync(copy, original);
  await starts(original);
  expect(idOf(original)).toBe(id);
  expect(existsSync(join(original, 'up.json'))).toBe(false);
});

type Place = 'original' | 'copy' | 'moved';

/** Moves of the two folders of one stopped installation, and the folders from which a start is then accepted, in this order. */
const restored: [string, (move: (from: Place, to: Place) => void) => void, [Place, 'starts' | 'refused'][]][] = [
  [
    'beside its original',
    () => {},
    [
      ['copy', 'refused'],
      ['original', 'starts'],
    ],
  ],
  ['back over its original', (move) => move('copy', 'original'), [['original', 'starts']]],
  [
    'in the place of its original, which was moved',
    (move) => {
      move('original', 'moved');
      move('copy', 'original');
    },
    [
      ['original', 'starts'],
      ['moved', 'refused'],
    ],
  ],
  [
    'where it is, and its original was moved',
    (move) => move('original', 'moved'),
    [
      ['copy', 'starts'],
      ['moved', 'refused'],
    ],
  ],
];

it.each(restored)('a cold copy %s', async (_, arrange, expected) => {
  const first = await up(original);
  const { run } = await parkedRun(first);
  first.child.kill('SIGTERM');
  await first.ended;
  const id = idOf(original);
  copyData();
  const at = { original, copy, moved: join(root, 'moved') };
  arrange((from, to) => {
    rmSync(at[to], { recursive: true, force: true });
    renameSync(at[from], at[to]);
  });
  for (const [place, outcome] of expected) {
    if (outcome === 'refused') {
      const { code, stdout } = await on(at[place], 'up');
      expect({ place, code, ...JSON.parse(stdout) }).toMatchObject({
        place,
        code: 1,
        error: { code: 'installation_copied' },
      });
      continue;
    }
    const system = await up(at[place]);
    expect([place, idOf(at[place]), (await system.client.getRun(run)).status]).toEqual([place, id, 'waiting']);
  }
});

it('a cold copy runs beside its running original once it is adopted, and a hot one in its place once it is gone', async () => {
  const first = await up(original);
  const { run } = await parkedRun(first);
  first.child.kill('SIGTERM');
  await first.ended;
  copyData();
  const again = await up(original);
  expect(JSON.parse((await on(copy, 'adopt', '--copy', '--yes')).stdout)).toMatchObject({ adopted: true });
  const second = await up(copy);
  for (const system of [again, second]) expect((await system.client.getRun(run)).status).toBe('waiting');
  expect(JSON.parse((await on(copy, 'down')).stdout)).toMatchObject({ stopped: true });
  expect((await again.client.getRun(run)).status).toBe('waiting');

  // A hot copy: the machine of the original dies while it runs.
  rmSync(copy, { recursive: true });
  copyData();
  const { children } = recordOf(original);
  const redis = Number(readFileSync(join(original, 'redis', 'server.pid'), 'utf8'));
  again.child.kill('SIGKILL');
  for (const pid of [...children.map(({ pid }) => pid), redis]) process.kill(pid, 'SIGKILL');
  await again.ended;
  await expect.poll(() => children.some(isAlive), { timeout: 10_000 }).toBe(false);
  rmSync(original, { recursive: true });
  renameSync(copy, original);
  expect((await (await up(original)).client.getRun(run)).status).toBe('waiting');
});

it.skipIf(!canStart(user))(
  'a plain user starts on a data directory below a folder that they may pass and not read',
  async () => {
    const closed = join(root, 'closed');
    mkdirSync(join(closed, 'data'), { recursive: true });
    chownSync(join(closed, 'data'), user.uid, user.gid);
    chmodSync(root, 0o711);
    chmodSync(closed, 0o711);
    const env = { ...envOf(join(closed, 'data')), HOME: join(closed, 'data') };
    const running = start(['up', '--json'], env, user);
    started.push(running);
    const { address } = readySchema.parse(JSON.parse(await running.firstLine));
    const client = createClient({ baseUrl: address, key: readKey(join(closed, 'data', 'api-key')) });
    const { run } = await client.createRun({
      plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'id -u > a.txt' } }] }] },
    });
    const status = () => client.getRun(run.id).then((read) => read.status);
    await expect.poll(status, { timeout: 60_000 }).toBe('succeeded');
    const stopped = await start(['down', '--json'], env, user).ended;
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: true, up: true });
  },
);
