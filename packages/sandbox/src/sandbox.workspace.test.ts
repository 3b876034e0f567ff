import { linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestHost, type TestHost } from './test-host.ts';
import { walk } from './workspace-size/walk.ts';

const MIB = 1024 * 1024;

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const quota = (limit: number) => ({ status: 'quota', quota: 'workspace', limit });
const clean = { status: 'exited', exit_code: 0, signal: null };

test('endless small writes end at the size of the workspace', async () => {
  const workspace = host.makeWorkspace();
  const line = 'for ((i = 0; ; i++)); do head -c 100000 /dev/zero > file$i; done';
  const { end } = await host.run(workspace, line, { limits: { workspace_bytes: 8 * MIB } });
  expect(end).toEqual(quota(8 * MIB));
});

test('endless empty files and directories do, too', async () => {
  const workspace = host.makeWorkspace();
  const line = 'for ((i = 0; ; i++)); do : > file$i; [[ i%100 -ne 0 ]] || mkdir d$i; done';
  const { end } = await host.run(workspace, line, { limits: { workspace_bytes: 4 * MIB } });
  expect(end).toEqual(quota(4 * MIB));
});

test('a command that is over before anybody looked is still found out', async () => {
  const workspace = host.makeWorkspace();
  const limits = { workspace_bytes: 4 * MIB };
  expect((await host.run(workspace, 'head -c 3M /dev/zero > a', { limits })).end).toEqual(clean);
  expect((await host.run(workspace, 'head -c 3M /dev/zero > b', { limits })).end).toEqual(quota(4 * MIB));
});

test('a workspace that is too large can be cleaned up, but not added to', async () => {
  const workspace = host.makeWorkspace();
  const limits = { workspace_bytes: MIB };
  await host.run(workspace, 'for i in 1 2 3; do head -c 2M /dev/zero > big$i; done');
  expect((await host.run(workspace, 'cat big1 > /dev/null; rm big1', { limits })).end).toEqual(clean);
  expect((await host.run(workspace, 'head -c 1M /dev/zero > more', { limits })).end).toEqual(quota(MIB));
});

test('what a sparse file promises does not count, and one of 1 TB is refused', async () => {
  const workspace = host.makeWorkspace();
  const limits = { workspace_bytes: 4 * MIB };
  expect((await host.run(workspace, 'truncate -s 500M sparse', { limits })).end).toEqual(clean);
  const { end } = await host.run(workspace, 'exec truncate -s 1T huge', { limits });
  expect(end).toMatchObject({ status: 'quota', quota: 'file_size' });
});

test('a file without a name counts while it is open', async () => {
  const workspace = host.makeWorkspace();
  const line = 'exec 3> f; rm f; head -c 12M /dev/zero >&3; sleep 1000';
  const { end } = await host.run(workspace, line, { limits: { workspace_bytes: 8 * MIB, wall_ms: 20_000 } });
  expect(end).toEqual(host.sandbox.capabilities.memory === 'enforced' ? quota(8 * MIB) : expect.anything());
});

test('the walk counts blocks: a file with two names once, a link itself and not what it points to', async () => {
  const { path } = host.makeWorkspace();
  const blocks = (name: string) => Math.max(4096, statSync(join(path, name)).blocks * 512);
  mkdirSync(join(path, 'd'));
  writeFileSync(join(path, 'd/one'), Buffer.alloc(MIB, 1));
  linkSync(join(path, 'd/one'), join(path, 'two'));
  symlinkSync('/usr', join(path, 'link'));
  expect((await walk(path, Number.POSITIVE_INFINITY)).bytes).toBe(blocks('.') + blocks('d') + blocks('d/one') + 4096);
  expect((await walk(path, 5000)).bytes).toBeGreaterThan(5000);
  expect((await walk(join(path, 'missing'), 5000)).bytes).toBe(0);
});
