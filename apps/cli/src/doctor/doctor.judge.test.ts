import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkDataDirectory, checkKeyFile } from './check-files.ts';
import { checkNode } from './check-node.ts';
import { judgeDurability, judgeMemoryPolicy } from './check-redis.ts';
import { judgeSandbox } from './check-sandbox.ts';

const root = mkdtempSync(join(tmpdir(), 'hp-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each([
  ['20.19.0', 'fail'],
  ['22.21.9', 'fail'],
  ['22.22.0', 'ok'],
  ['26.10.0', 'ok'],
])('Node %s: %s', (version, level) => {
  expect(checkNode(version).level).toBe(level);
});

it.each([
  ['yes', 'always', 'ok'],
  ['yes', 'everysec', 'warn'],
  ['no', 'always', 'fail'],
  [undefined, undefined, 'warn'],
])('appendonly %s, appendfsync %s: %s', (append, fsync, level) => {
  expect(judgeDurability(append, fsync).level).toBe(level);
});

it.each([
  ['noeviction', 'ok'],
  ['allkeys-lru', 'fail'],
  [undefined, 'warn'],
])('maxmemory-policy %s: %s', (policy, level) => {
  expect(judgeMemoryPolicy(policy).level).toBe(level);
});

it('the key belongs to its owner alone', async () => {
  const file = join(root, 'api-key');
  expect((await checkKeyFile(file)).level).toBe('ok');
  writeFileSync(file, 'key', { mode: 0o600 });
  expect((await checkKeyFile(file)).level).toBe('ok');
  chmodSync(file, 0o640);
  expect(await checkKeyFile(file)).toMatchObject({ level: 'fail', next: `chmod 600 ${file}` });
});

it('so does the data directory', async () => {
  const directory = join(root, 'data');
  expect((await checkDataDirectory(directory)).level).toBe('ok');
  mkdirSync(directory, { mode: 0o700 });
  expect((await checkDataDirectory(directory)).level).toBe('ok');
  chmodSync(directory, 0o755);
  expect((await checkDataDirectory(directory)).level).toBe('warn');
  writeFileSync(join(root, 'file'), '');
  expect((await checkDataDirectory(join(root, 'file'))).level).toBe('fail');
});

it('a sandbox with a gap is no sandbox', () => {
  const all = { fs: 'enforced', net: 'enforced', pids: 'enforced', seccomp: 'enforced', uid_drop: 'enforced' } as const;
  const limits = { memory: 'partial', cpu: 'partial', disk: 'partial' } as const;
  const report = { driver: 'bubblewrap', ...all, ...limits, notes: [] };
  expect(judgeSandbox(report)[0]?.level).toBe('ok');
  expect(judgeSandbox({ ...report, net: 'absent' })[0]?.level).toBe('fail');
  expect(judgeSandbox({ ...report, driver: 'none' })[0]?.level).toBe('fail');
});
