import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, initRepository, readTree, runId, type Temporary, writeTree } from '../testing/index.ts';

const files = { 'a/x.txt': 'x\n', 'b/y.txt': 'y\n', top: 'top\n' };

/** A clone of a new repository. */
function clone(t: Temporary, ...options: string[]): { path: string; source: Source } {
  const origin = join(t.path, 'origin');
  writeTree(origin, files);
  initRepository(origin);
  git(origin, 'config', 'uploadpack.allowFilter', 'true');
  const path = join(t.path, 'clone');
  git(t.path, '-c', 'protocol.file.allow=always', 'clone', '-q', ...options, `file://${origin}`, path);
  return { path, source: { type: 'git', path } };
}

const checked = (t: Temporary, source: Source) =>
  t.workspaces.check(source).then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );

test.for<[string, string[]]>([
  ['without files', ['--filter=blob:none', '--no-checkout']],
  ['without folders', ['--filter=tree:0', '--no-checkout']],
  ['of large files only', ['--filter=blob:limit=1', '--no-checkout']],
  ['with a few files', ['--filter=blob:none', '--sparse']],
])('rejects a partial clone %s', async ([_, options], { t }) => {
  const { path, source } = clone(t, ...options);
  const include = { ...source, include: ['top'] } as Source;
  for (const one of [source, include]) {
    await expect(t.workspaces.check(one)).rejects.toMatchObject({
      ...{ code: 'ESOURCEPARTIAL', retryable: false, next: expect.stringContaining('git fetch --refetch') },
    });
    await expect(t.workspaces.materialise({ runId, source: one })).rejects.toMatchObject({ code: 'ESOURCEPARTIAL' });
  }
  // The commands that `next` names.
  git(path, 'sparse-checkout', 'disable');
  git(path, '-c', 'protocol.file.allow=always', 'fetch', '-q', '--refetch', '--no-filter');
  expect(await checked(t, source)).toBe('accepted');
  await t.workspaces.materialise({ runId, source });
  expect(readTree(await t.tree())).toMatchObject({ 'b/y.txt': 'file y\n' });
});

test('accepts a partial clone with all files of the commit', async ({ t }) => {
  const { source } = clone(t, '--filter=blob:none');
  rmSync(join(t.path, 'origin'), { recursive: true });
  expect(await checked(t, source)).toBe('accepted');
  await t.workspaces.materialise({ runId, source });
  expect(readTree(await t.tree())).toMatchObject({ 'a/x.txt': 'file x\n' });
});

test('rejects a sparse checkout without include', async ({ t }) => {
  const { path, source } = clone(t, '--sparse');
  git(path, 'sparse-checkout', 'set', 'a');
  await expect(t.workspaces.check(source)).rejects.toMatchObject({
    ...{ code: 'ESOURCESPARSE', retryable: false, next: expect.stringContaining('include') },
  });
  const cone = { ...source, include: ['a', 'top'] } as Source;
  expect(await checked(t, cone)).toBe('accepted');
  await t.workspaces.materialise({ runId, source: cone });
  expect(readTree(await t.tree())).toEqual({
    ...{ a: 'folder', 'a/x.txt': 'file x\n', top: 'file top\n' },
  });
  git(path, 'sparse-checkout', 'disable');
  expect(await checked(t, source)).toBe('accepted');
});
