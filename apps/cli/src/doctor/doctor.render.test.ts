import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeDurability, judgeMemoryPolicy } from '@holdpoint/engine/redis';
import { whyCopies } from '@holdpoint/workspace/trees';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../shell/config.ts';
import { judgeAudit } from './check-audit.ts';
import { checkDataDirectory, checkKeyFile } from './check-files.ts';
import { checkBrowser, checkNode, checkToolchains } from './check-programs.ts';
import { checkRetention } from './check-retention.ts';
import { checkBubblewrap, checkSandbox, judgeSandbox } from './check-sandbox.ts';
import { checkStorage } from './check-storage.ts';
import { checkDamage, checkLoops, checkStuckHandlers, checkTrees, judgePeriodic } from './examine.ts';
import { startWalk } from './measure.ts';

const root = mkdtempSync(join(tmpdir(), 'hp-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('names the browser for screenshots, and says how to have the tool where there is none', () => {
  const bin = join(root, 'browser/bin');
  mkdirSync(bin, { recursive: true });
  const machine = { path: bin, projectDir: root, environment: {} };
  expect(checkBrowser(machine)).toMatchObject({
    ...{ level: 'ok', text: expect.stringMatching(/no tool screenshot.*HOLDPOINT_CHROMIUM/) },
  });
  writeFileSync(join(bin, 'chromium'), '#!/bin/sh\n', { mode: 0o755 });
  expect(checkBrowser(machine).text).toContain(join(bin, 'chromium'));
  expect(checkBrowser({ ...machine, environment: { HOLDPOINT_CHROMIUM: 'none' } }).text).toMatch(/is none: .*no tool/);
});

it.each([
  ['20.19.0', 'fail'],
  ['22.22.0', 'fail'],
  ['26.9.9', 'fail'],
  ['26.10.0', 'ok'],
  ['27.0.0', 'ok'],
])('Node %s: %s', (version, level) => {
  const projectDir = fileURLToPath(new URL('../../../..', import.meta.url));
  expect(checkNode({ projectDir }, version).level).toBe(level);
});

it.each([
  ['yes', 'always', 'ok'],
  ['yes', 'everysec', 'warn'],
  ['no', 'always', 'fail'],
  [undefined, undefined, 'warn'],
])('appendonly %s, appendfsync %s: %s', (append, fsync, level) =>
  expect(judgeDurability(append, fsync).level).toBe(level),
);

it.each([
  ['noeviction', 'ok'],
  ['allkeys-lru', 'fail'],
  [undefined, 'warn'],
])('maxmemory-policy %s: %s', (policy, level) => expect(judgeMemoryPolicy(policy).level).toBe(level));

it('names what workers put aside as damaged', async () => {
  const dataDir = join(root, 'damaged');
  expect(await checkDamage({ dataDir })).toMatchObject({ level: 'ok', text: 'as they were written' });
  const layer = join(dataDir, 'trash/layer-0123~1');
  mkdirSync(layer, { recursive: true });
  mkdirSync(join(dataDir, 'trash/run_1~1'));
  const damage = { kind: 'layer', name: 'tenant/key', why: '1 path differs: a.txt.', at: '2026-01-01T00:00:00.000Z' };
  writeFileSync(join(layer, 'damage.json'), JSON.stringify(damage));
  const finding = await checkDamage({ dataDir });
  expect(finding).toMatchObject({ level: 'warn', data: { damaged: [], set_aside: [damage] } });
  expect(finding.text).toContain('layer tenant/key: 1 path differs: a.txt.');
  expect(finding.next).toContain('Check the disk');
});

it('periodic work fails once it is overdue', () => {
  const last_at = '2026-01-01T00:00:00.000Z';
  expect(judgePeriodic('sweep', { last_at: null, overdue: false }).level).toBe('ok');
  expect(judgePeriodic('sweep', { last_at, overdue: false })).toMatchObject({
    level: 'ok',
    text: `last at ${last_at}`,
  });
  expect(judgePeriodic('sweep', { last_at, overdue: true })).toMatchObject({ name: 'sweep', level: 'fail' });
});

it('the audit log fails without its last record, and warns when its writer is behind', () => {
  const now = Date.parse('2026-01-01T00:10:00.000Z');
  const head = { seq: 7, hash: 'a'.repeat(64) };
  const sealedAt = '2026-01-01T00:00:00.000Z';
  const none = { head: { seq: 0, hash: '0'.repeat(64) }, sealedAt: undefined, unsealedSince: undefined };
  expect(judgeAudit(none, now)).toMatchObject({ level: 'ok', text: 'no record yet' });
  expect(judgeAudit({ head, sealedAt, unsealedSince: '2026-01-01T00:09:30.000Z' }, now)).toMatchObject({
    level: 'ok',
    text: expect.stringContaining('record 7'),
  });
  expect(judgeAudit({ head, sealedAt, unsealedSince: '2026-01-01T00:05:00.000Z' }, now)).toMatchObject({
    level: 'warn',
    text: expect.stringContaining('300 s behind'),
  });
  expect(judgeAudit({ head, sealedAt: undefined, unsealedSince: undefined }, now)).toMatchObject({ level: 'fail' });
});

it('only the owner may read the key', async () => {
  const file = join(root, 'api-key');
  expect((await checkKeyFile(file)).level).toBe('ok');
  writeFileSync(file, 'key', { mode: 0o600 });
  expect((await checkKeyFile(file)).level).toBe('ok');
  chmodSync(file, 0o640);
  expect(await checkKeyFile(file)).toMatchObject({ level: 'fail', next: `chmod 600 ${file}` });
});

it('only the owner may read the data directory', async () => {
  const directory = join(root, 'data');
  expect((await checkDataDirectory(directory)).level).toBe('ok');
  mkdirSync(directory, { mode: 0o700 });
  expect((await checkDataDirectory(directory)).level).toBe('ok');
  chmodSync(directory, 0o755);
  expect((await checkDataDirectory(directory)).level).toBe('warn');
  writeFileSync(join(root, 'file'), '');
  expect((await checkDataDirectory(join(root, 'file'))).level).toBe('fail');
});

describe('storage', () => {
  const data = join(root, 'storage');
  const put = (path: string, kib: number): void => {
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), Buffer.alloc(kib * 1024, 1));
  };

  it('is empty before the first start', async () =>
    expect(await checkStorage(data)).toMatchObject({ level: 'ok', text: 'nothing yet' }));

  it('lists its parts, and the largest runs first', async () => {
    put('redis/appendonly.aof', 64);
    put('blobs/ab/cd', 32);
    put('trash/run_x/tree/a', 16);
    for (const [run, kib] of [16, 128, 64, 256, 32, 8].entries()) put(`runs/run_${run}/tree/sub/a`, kib);
    // A fork shares unchanged files.
    linkSync(join(data, 'runs/run_3/tree/sub/a'), join(data, 'runs/run_0/tree/b'));
    const kib = (space: unknown) => Math.floor(Number(space) / 1024);
    const { data: found, text } = await checkStorage(data);
    const largest = found?.largest as { run_id: string; bytes: number }[];
    expect(found).toMatchObject({ complete: true, runs: 6 });
    expect(largest.map(({ run_id }) => run_id)).toEqual(['run_0', 'run_3', 'run_1', 'run_2', 'run_4']);
    expect(kib(found?.redis)).toBeGreaterThanOrEqual(64);
    expect(kib(found?.trash)).toBeGreaterThanOrEqual(16);
    const apart = Number(found?.workspaces) + Number(found?.redis) + Number(found?.blobs) + Number(found?.trash);
    expect(kib(apart - Number(found?.total))).toBe(256);
    expect(text).toMatch(/^[\d.]+ KiB, .* free: workspaces of 6 runs /);
  });

  it('reports lower bounds after the deadline', async () => {
    const { data: found, text } = await checkStorage(data, startWalk(0));
    expect(found).toMatchObject({ complete: false, runs: 6, largest: [] });
    expect(text).toMatch(/^at least 0 bytes, .* workspaces of 6 runs, 0 of them measured /);
  });
});

it('shows whether workers remove workspaces', () => {
  const none = { runs: [], sizes: new Map<string, number>() };
  const textOf = (...bounds: { days: number | null; runs: number | null }[]) =>
    checkRetention({ workers: bounds.map((retention) => ({ retention })), ...none });
  expect(textOf().text).toMatch(/^unknown/);
  expect(textOf({ days: null, runs: null }).text).toMatch(/^off/);
  expect(textOf({ days: 30, runs: null }).text).toContain('30 days after');
  expect(textOf({ days: 30, runs: null }, { days: null, runs: 5 })).toMatchObject({ level: 'warn' });
  const publication = { status: 'none', snapshot: null, result: null, conflicts: [], problem: null } as never;
  const held = checkRetention({
    workers: [{ retention: { days: null, runs: 5 } }],
    runs: [
      { id: 'run_1', status: 'succeeded', publication },
      { id: 'run_2', status: 'succeeded', publication },
      { id: 'run_3', status: 'waiting', publication },
      { id: 'run_gone', status: 'waiting', publication },
    ],
    sizes: new Map([
      ['run_1', 2e6],
      ['run_2', 1e6],
      ['run_3', 5e6],
    ]),
  });
  expect(held.data).toMatchObject({
    held: [
      { reason: 'running', runs: 0 },
      { reason: 'parked', runs: 1, bytes: 5e6 },
      { reason: 'unpublished', runs: 2, bytes: 3e6 },
      { reason: 'published', runs: 0 },
      { reason: 'ended', runs: 0 },
    ],
  });
});

it('a sandbox with a gap fails', () => {
  const all = { fs: 'enforced', net: 'enforced', pids: 'enforced', seccomp: 'enforced', uid_drop: 'enforced' } as const;
  const limits = { memory: 'partial', cpu: 'partial', disk: 'partial' } as const;
  const report = { driver: 'bubblewrap', ...all, ...limits, notes: [] };
  expect(judgeSandbox(report)[0]?.level).toBe('ok');
  expect(judgeSandbox({ ...report, net: 'absent' })[0]?.level).toBe('fail');
  expect(judgeSandbox({ ...report, driver: 'none' })[0]?.level).toBe('fail');
});

it('never advises to mount a directory with secrets', () => {
  const home = join(root, 'home');
  for (const path of ['.cargo/bin', '.cargo/registry', '.local/bin', '.local/share/keyrings']) {
    mkdirSync(join(home, path), { recursive: true });
  }
  writeFileSync(join(home, '.cargo/credentials.toml'), 'token');
  for (const program of ['.cargo/bin/swift', '.local/bin/zig']) writeFileSync(join(home, program), '', { mode: 0o755 });
  const { level, next } = checkToolchains({
    path: `${home}/.cargo/bin:${home}/.local/bin`,
    projectDir: '/nowhere',
    toolchains: [],
  });
  expect(level).toBe('warn');
  expect(next?.split('=')[1]?.split(':')).toEqual([
    join(home, '.cargo/bin'),
    join(home, '.cargo/registry'),
    join(home, '.local/bin'),
  ]);
});

it('advises to install a bubblewrap that root owns', () => {
  const projectDir = join(root, 'project');
  const bwrap = join(projectDir, '.cache/bubblewrap/bin/bwrap');
  mkdirSync(dirname(bwrap), { recursive: true });
  writeFileSync(bwrap, '', { mode: 0o755 });
  chmodSync(bwrap, 0o775);
  expect(checkBubblewrap({ path: '', projectDir })).toEqual([
    expect.objectContaining({ level: 'warn', next: expect.stringContaining('Install the package bubblewrap') }),
  ]);
  expect(checkBubblewrap({ path: '', projectDir: '/nowhere' })).toEqual([]);
});

it.runIf(process.getuid?.() === 0)(
  'the sandbox is tried below the data directory and leaves nothing there',
  async () => {
    const closed = mkdtempSync(join(root, 'closed-'));
    const bin = join(root, 'without-setpriv');
    mkdirSync(bin);
    for (const name of ['bash', 'mkfifo', 'bwrap']) {
      if (existsSync(join('/usr/bin', name))) symlinkSync(join('/usr/bin', name), join(bin, name));
    }
    const config = readConfig({ PATH: bin, HOLDPOINT_DATA: join(closed, 'data') }, root);
    const text = expect.stringMatching(/^The workspace's uid cannot reach .*closed-/);
    expect(await checkSandbox(config, undefined)).toMatchObject([{ level: 'fail', text }]);
    expect(readdirSync(closed)).toEqual([]);
    mkdirSync(config.dataDir);
    expect(await checkSandbox(config, undefined)).toMatchObject([{ level: 'fail', text }]);
    expect(readdirSync(config.dataDir)).toEqual([]);
  },
);

it('says whether trees are copies, and why', async () => {
  const dataDir = mkdtempSync(join(root, 'trees-'));
  const look = (environment: Record<string, string>) => checkTrees({ environment, dataDir });
  expect(await checkTrees({ environment: {}, dataDir: join(root, 'none') })).toMatchObject({ text: 'nothing yet' });
  expect(await look({ HOLDPOINT_LAYERS: 'copy' })).toMatchObject({
    text: 'copies of the source: HOLDPOINT_LAYERS is copy',
    data: { layers: false },
  });
  const auto = await look({ HOLDPOINT_LAYERS: 'auto' });
  expect(auto.text).toBe(
    auto.data?.layers === true
      ? 'on shared layers, by overlay mounts'
      : `copies of the source: ${await whyCopies({ setting: 'auto', dataDir })}`,
  );
  expect(readdirSync(dataDir)).toEqual([]);
  if (auto.data?.layers !== true) return;
  const tree = join(dataDir, 'runs/run_1/trees/1');
  mkdirSync(tree, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', 'tree', tree]);
  try {
    for (const HOLDPOINT_LAYERS of ['auto', 'copy']) {
      const found = await look({ HOLDPOINT_LAYERS });
      expect(found.text).toContain('; 1 mounted, which `holdpoint down` unmounts');
      expect(found.data).toMatchObject({ mounted: 1 });
    }
  } finally {
    execFileSync('umount', [tree]);
  }
});

it('names a worker with a blocked event loop', () => {
  const worker = (late_ms: number, busy_ms: number) => ({ ...aWorker, loop: { late_ms, busy_ms } });
  expect(checkLoops([aWorker, worker(900, 90)])).toEqual([]);
  expect(checkLoops([worker(5000, 4900)])).toMatchObject([
    { level: 'warn', next: expect.stringContaining('loop_late') },
  ]);
  expect(checkLoops([worker(5000, 20)])).toMatchObject([
    { level: 'warn', next: expect.stringContaining('Other programs') },
  ]);
});

it('names a worker whose aborted jobs have not ended', () => {
  expect(checkStuckHandlers([aWorker, { ...aWorker, stuck: 0 }])).toEqual([]);
  expect(checkStuckHandlers([{ ...aWorker, stuck: 3 }])).toMatchObject([
    { level: 'warn', text: expect.stringContaining('aborted 3 jobs'), next: expect.stringContaining('handler_stuck') },
  ]);
});

const aWorker = {
  ...{ id: 'worker-1', pid: 1, host: 'host', version: null, concurrency: 4, active: [], capabilities: null },
  ...{ started_at: '2026-01-01T00:00:00.000Z', last_seen_at: '2026-01-01T00:00:00.000Z' },
};
