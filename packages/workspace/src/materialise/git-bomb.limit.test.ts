import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { z } from 'zod';
import { createGit } from '../host-git/git.ts';
import { readRows } from '../host-git/stream-blobs.ts';
import { rejects, test } from '../testing/fixture.ts';
import { deepRepository, gitBomb } from '../testing/git-bomb.ts';
import { git, runId, temporary, writeTree } from '../testing/index.ts';

const script = join(import.meta.dirname, '../testing/materialise-memory.ts');
const measured = z.object({
  ...{ baseline: z.number(), peak: z.number(), child: z.number(), left: z.number() },
  code: z.string().optional(),
});

async function materialise(input: object) {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(input)]);
  return measured.parse(JSON.parse(stdout));
}

/** Ten objects, and 10⁷ or 10⁹ paths. Listing them takes 1 GB or 100 GB. */
test.runIf(process.platform === 'linux').for([
  ['files', { levels: 7, entries: 500_000 }],
  ['files that take an hour to list', { levels: 9, entries: 50_000 }],
  ['submodules', { levels: 7, leaf: 'submodule', entries: 50_000 }],
  ['folders alone', { levels: 8, leaf: 'nothing', entries: 50_000 }],
] as const)('a bomb of %s costs bounded memory', { timeout: 120_000 }, async ([_, { entries, ...shape }], { t }) => {
  const source = { type: 'git', path: gitBomb(join(t.path, 'bomb'), shape) };
  const { baseline, peak, child, left, code } = await materialise({ dataDir: t.dataDir, source, entries });
  expect(code).toBe('ETOOMANYFILES');
  expect(peak - baseline).toBeLessThan(400);
  expect(child).toBeLessThan(50);
  expect(left).toBe(0);
});

test('ends git when the call ends', async ({ t }) => {
  const path = gitBomb(join(t.path, 'bomb'), { levels: 9 });
  const source = { type: 'git', path, exclude: ['**'] };
  const { peak, left, code } = await materialise({ dataDir: t.dataDir, source, abortMs: 300 });
  expect(code).toBe('TimeoutError');
  expect(peak).toBeLessThan(600);
  expect(left).toBe(0);
});

test('counts what globs leave out, up to a limit', async () => {
  using t = temporary({ limits: { entries: 20_000 } });
  const path = gitBomb(join(t.path, 'bomb'), { levels: 9 });
  const source: Source = { type: 'git', path, exclude: ['**'] };
  await rejects(t.workspaces.materialise({ runId, source }), 'ETOOMANYFILES', { retryable: false });
});

test('reads no row that is longer than any path', async ({ t }) => {
  const path = deepRepository(join(t.path, 'deep'), { folders: 1000, name: 'd'.repeat(250) });
  const list = async () => {
    const args = [`--git-dir=${path}`, 'ls-tree', '-r', '-t', '-z', 'main'];
    for await (const rows of readRows(createGit({}), args))
      expect(rows.every((row) => row.length < 200_000)).toBe(true);
  };
  await rejects(list(), 'ESOURCEPATHS');
});

test.for([
  ['6,000 folders in each other', { folders: 6000, name: 'd' }, '200 folders'],
  ['a name of 256 bytes', { folders: 0, name: 'd'.repeat(256) }, '255 bytes'],
  ['a path of 20,000 bytes', { folders: 99, name: 'd'.repeat(200) }, '3840 bytes'],
] as const)('refuses %s as an error of the source', async ([_, shape, why], { t }) => {
  const path = deepRepository(join(t.path, 'deep'), shape);
  const more = { retryable: false, message: expect.stringContaining(why), next: expect.stringContaining('exclude') };
  await rejects(t.workspaces.materialise({ runId, source: { type: 'git', path } }), 'ESOURCEPATHS', more);
  // The advice.
  const source: Source = { type: 'git', path, exclude: ['d*'] };
  const { files } = await t.workspaces.materialise({ runId, source });
  expect(files).toBe(0);
});

test('refuses a directory with folders that are nested too deeply', async ({ t }) => {
  const path = join(t.path, 'source');
  writeTree(path, { 'top.txt': 'x\n' });
  mkdirSync(join(path, ...Array.from({ length: 1500 }, () => 'd')), { recursive: true });
  const source = { type: 'directory', path } as const;
  await rejects(t.workspaces.materialise({ runId, source }), 'ESOURCEPATHS', { retryable: false });
  const { files } = await t.workspaces.materialise({ runId, source: { ...source, exclude: ['d'] } });
  expect(files).toBe(1);
});

test('a commit object of many megabytes is refused', async ({ t }) => {
  const path = t.source({ a: 'a\n' }, 'git');
  writeTree(path, { message: 'm'.repeat(17 * 1024 * 1024) });
  git(path, 'commit', '-q', '--allow-empty', '-F', 'message');
  const source = { type: 'git', path } as const;
  await rejects(t.workspaces.materialise({ runId, source }), 'ESOURCETOOLARGE', { retryable: false });
});

test('a publish refuses a branch that has become a bomb', async () => {
  using t = temporary({ limits: { entries: 5000 } });
  const path = t.source({ a: 'a\n' }, 'git');
  const { id, path: tree } = await t.begin({ type: 'git', path });
  writeTree(tree, { b: 'b\n' });
  const { id: snapshot } = await t.snapshot(id);
  const bomb = gitBomb(join(t.path, 'bomb'), { levels: 7 });
  git(path, '-c', 'protocol.file.allow=always', 'fetch', '-q', bomb, '+main:refs/heads/other');
  const target = { message: 'm', branch: 'other' };
  const plan = t.workspaces.planPublish({ runId, snapshot, target });
  await rejects(plan, 'ETOOMANYFILES', { retryable: false });
});
