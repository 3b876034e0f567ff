import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { SpaceGuard } from '../disk-space/space-guard.ts';
import type { FrozenStart } from '../frozen-start.ts';
import { absentReport } from '../probe.ts';
import { runCommand } from '../run-command.ts';
import { openTestDriver, until, useTestHost } from '../testing/host.ts';
import { WorkspaceSizes } from './sizes.ts';
import { walk } from './walk.ts';

const mib = 1024 * 1024;

const { host, test } = useTestHost();

const quota = (limit: number) => ({ status: 'quota', quota: 'workspace', limit });
const clean = { status: 'exited', exit_code: 0, signal: null };

test('endless small writes end at the workspace limit', async ({ workspace }) => {
  const line = 'for ((i = 0; ; i++)); do head -c 100000 /dev/zero > file$i; done';
  const { end } = await host.run(workspace, line, { limits: { workspace_bytes: 8 * mib } });
  expect(end).toEqual(quota(8 * mib));
});

test('endless empty files and directories end at the workspace limit', async ({ workspace }) => {
  const line = 'for ((i = 0; ; i++)); do : > file$i; [[ i%100 -ne 0 ]] || mkdir d$i; done';
  const { end } = await host.run(workspace, line, { limits: { workspace_bytes: 4 * mib } });
  expect(end).toEqual(quota(4 * mib));
});

test('a command that ends before the first poll is still checked', async ({ workspace }) => {
  const limits = { workspace_bytes: 4 * mib };
  expect((await host.run(workspace, 'head -c 3M /dev/zero > a', { limits })).end).toEqual(clean);
  expect((await host.run(workspace, 'head -c 3M /dev/zero > b', { limits })).end).toEqual(quota(4 * mib));
});

test('what a command writes before its worker continues is no earlier file', async ({ workspace }) => {
  const driver = openTestDriver(mkdtempSync(join(host.directory, 'state-')));
  const now = () => performance.now();
  const deps = {
    ...{ driver, capabilities: absentReport('bubblewrap'), limits: undefined, sizes: new WorkspaceSizes(now), now },
    ...{ guard: new SpaceGuard({ floor: 0, now }), closing: new AbortController().signal },
  };
  const written = join(workspace.path, 'written');
  const late: FrozenStart = async (_, start) => {
    const tree = start();
    await until(() => existsSync(written));
    return tree;
  };
  const argv = ['/bin/bash', '-c', 'head -c 6M /dev/zero > big; touch written; sleep 0.2'] as const;
  const signal = new AbortController().signal;
  const limits = { workspace_bytes: 4 * mib };
  const { end } = await runCommand({ ...deps, frozenStart: late }, { workspace, argv, signal, limits });
  expect(end).toEqual(quota(4 * mib));
});

test('the size of a small tree is never out of date, however long its last walk took and whatever others free', async () => {
  const { path } = host.makeWorkspace();
  writeFileSync(join(host.directory, 'of others'), Buffer.alloc(64 * mib, 1), { flush: true });
  let time = 0;
  const sizes = new WorkspaceSizes(() => (time += 1000));
  const measure = () => sizes.measure({ path, limit: 4 * mib, enough: Number.POSITIVE_INFINITY });
  writeFileSync(join(path, 'a'), Buffer.alloc(3 * mib, 1), { flush: true });
  expect((await measure()).bytes).toBeGreaterThanOrEqual(3 * mib);
  rmSync(join(host.directory, 'of others'));
  writeFileSync(join(path, 'b'), Buffer.alloc(3 * mib, 1), { flush: true });
  expect((await measure()).bytes).toBeGreaterThanOrEqual(6 * mib);
});

test('a command may shrink a workspace over its limit, but not grow it', async ({ workspace }) => {
  const limits = { workspace_bytes: mib };
  await host.run(workspace, 'for i in 1 2 3; do head -c 2M /dev/zero > big$i; done');
  expect((await host.run(workspace, 'cat big1 > /dev/null; rm big1', { limits })).end).toEqual(clean);
  expect((await host.run(workspace, 'head -c 1M /dev/zero > more', { limits })).end).toEqual(quota(mib));
});

test('holes of a sparse file do not count, and one of 1 TB is refused', async ({ workspace }) => {
  const limits = { workspace_bytes: 4 * mib };
  expect((await host.run(workspace, 'truncate -s 500M sparse', { limits })).end).toEqual(clean);
  const { end } = await host.run(workspace, 'exec truncate -s 1T huge', { limits });
  expect(end).toMatchObject({ status: 'quota', quota: 'file_size' });
});

test('an open file without a name counts', async () => {
  const line = 'exec 3> f; rm f; head -c 12M /dev/zero >&3; sleep 1000';
  const { end } = await host.run(host.makeWorkspace(), line, { limits: { workspace_bytes: 8 * mib, wall_ms: 20_000 } });
  expect(end).toEqual(host.sandbox.capabilities.memory === 'enforced' ? quota(8 * mib) : expect.anything());
});

test('the walk counts blocks, hard links once, and does not follow links', async () => {
  const { path } = host.makeWorkspace();
  const blocks = (name: string) => Math.max(4096, statSync(join(path, name)).blocks * 512);
  mkdirSync(join(path, 'd'));
  writeFileSync(join(path, 'd/one'), Buffer.alloc(mib, 1));
  linkSync(join(path, 'd/one'), join(path, 'two'));
  symlinkSync('/usr', join(path, 'link'));
  expect((await walk(path, Number.POSITIVE_INFINITY)).bytes).toBe(blocks('.') + blocks('d') + blocks('d/one') + 4096);
  expect((await walk(path, 5000)).bytes).toBeGreaterThan(5000);
  expect((await walk(join(path, 'missing'), 5000)).bytes).toBe(0);
});
