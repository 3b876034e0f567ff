import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import { git, runId, type Temporary, writeTree } from '../../testing/index.ts';

const isRoot = process.getuid?.() === 0;
const files = { '.gitignore': 'node_modules/\n', 'src/add.js': 'one\n', 'vendor/x.js': 'x\n' };

function sourceOf(t: Temporary): string {
  const path = t.source(files, 'git');
  writeTree(join(path, 'node_modules'), { 'pkg/index.js': 'module.exports = 1;\n' });
  return path;
}

const checked = (t: Temporary, source: Source) =>
  t.workspaces.check(source).then(
    () => 'accepted',
    (error: { code: string; message: string }) => `${error.code} ${error.message}`,
  );

const folder = (t: Temporary, path: string, ...paths: string[]) => checked(t, { type: 'git', path, with: paths });

describe('a folder of a git source is refused', () => {
  test('when it is absent, a file, or part of the commit', async ({ t }) => {
    const path = sourceOf(t);
    writeFileSync(join(path, 'untracked'), 'x');
    expect(await folder(t, path, 'none')).toBe(`ESOURCEFOLDER none does not exist in ${path}.`);
    expect(await folder(t, path, 'node_modules', 'a/none')).toContain('a/none does not exist');
    expect(await folder(t, path, 'untracked')).toContain('untracked is not a folder');
    expect(await folder(t, path, 'untracked/x')).toContain('lies below the file untracked');
    expect(await folder(t, path, 'src')).toContain('src is part of the commit');
    expect(await folder(t, path, '.git/hooks')).toContain('is a repository');
    mkdirSync(join(path, 'src/own'));
    expect(await folder(t, path, 'src/own')).toBe('accepted');
    // In the commit there is a file where the work tree has a folder now.
    rmSync(join(path, 'vendor/x.js'));
    mkdirSync(join(path, 'vendor/x.js/lib'), { recursive: true });
    expect(await folder(t, path, 'vendor/x.js/lib')).toContain('lies below the file vendor/x.js');
    const source: Source = { type: 'git', path, with: ['vendor/x.js/lib'] };
    expect(await t.workspaces.materialise({ runId, source }).catch((error) => error.code)).toBe('ESOURCEFOLDER');
  });

  test('when it is a link, or lies behind one, wherever that leads', async ({ t }) => {
    const path = sourceOf(t);
    const other = join(t.path, 'other-tenant');
    writeTree(other, { 'node_modules/secret.js': 'x\n' });
    for (const target of ['/etc', join(other, 'node_modules'), 'node_modules', '../other-tenant/node_modules']) {
      symlinkSync(target, join(path, 'link'));
      expect(await folder(t, path, 'link')).toContain('link is a link');
      rmSync(join(path, 'link'));
    }
    symlinkSync(other, join(path, 'packages'));
    expect(await folder(t, path, 'packages/node_modules')).toContain('lies behind the link packages');
  });

  test('of a repository without a work tree', async ({ t }) => {
    const path = sourceOf(t);
    const bare = join(t.path, 'bare');
    git(t.path, 'clone', '-q', '--bare', path, bare);
    for (const at of [bare, join(path, '.git')])
      expect(await folder(t, at, 'objects')).toContain('without a work tree');
  });

  test('when runs could not read all of it', async ({ t }) => {
    const path = sourceOf(t);
    const deep = join(path, 'node_modules/pkg');
    chmodSync(join(deep, 'index.js'), isRoot ? 0o600 : 0o000);
    expect(await folder(t, path, 'node_modules')).toMatch(/cannot read \(1: pkg\/index\.js\); try chmod -R o\+rX /);
    chmodSync(deep, isRoot ? 0o750 : 0o000);
    expect(await folder(t, path, 'node_modules')).toContain('pkg');
    chmodSync(deep, 0o755);
  });

  test('when it has a FIFO', async ({ t }) => {
    const path = sourceOf(t);
    execFileSync('mkfifo', [join(path, 'node_modules/pkg/pipe')]);
    expect(await folder(t, path, 'node_modules')).toContain('has the FIFO pkg/pipe');
  });

  test('where the bounds close its source, or a folder of keys', async ({ t }) => {
    const path = sourceOf(t);
    mkdirSync(join(path, 'node_modules/.ssh'));
    expect(await folder(t, path, 'node_modules/.ssh')).toContain('ESOURCEFORBIDDEN');
    await t.begin({ type: 'git', path, with: ['node_modules'] });
    const closed = t.reopen({ roots: { sourceRoots: [join(t.path, 'elsewhere')] } });
    await expect(closed.locate({ runId, epoch: 1 })).rejects.toMatchObject({ code: 'ESOURCEFOLDERLOST' });
  });
});

test('a folder of a directory is not copied, and a folder of an include has no files of the run', async ({ t }) => {
  const path = sourceOf(t);
  expect(await checked(t, { type: 'directory', path, with: ['node_modules'], include: ['src'] })).toBe('accepted');
  expect(await checked(t, { type: 'directory', path, with: ['none'] })).toContain('ESOURCEFOLDER');
});

test('what took the place of a folder is never shown', async ({ t }) => {
  const path = sourceOf(t);
  await t.begin({ type: 'git', path, with: ['node_modules'] });
  const at = join(path, 'node_modules');
  renameSync(at, join(path, 'old'));
  const located = () =>
    t.workspaces.locate({ runId, epoch: 1 }).then(
      () => 'shown',
      (error) => error.message,
    );
  for (const target of ['/etc', 'old', join(t.dataDir, 'runs')]) {
    symlinkSync(target, at);
    expect(await located()).toContain('node_modules is a link');
    rmSync(at);
  }
  writeFileSync(at, 'x');
  expect(await located()).toContain('is not a folder');
  rmSync(at);
  renameSync(join(path, 'old'), at);
  expect(await located()).toBe('shown');
  // The source as a whole may be exchanged as well: its real path is that of the first day.
  renameSync(path, join(t.path, 'moved'));
  symlinkSync(join(t.path, 'moved'), path);
  expect(await located()).toContain('leads to');
});

test.runIf(isRoot)('what is mounted in a folder is judged, too', async ({ t }) => {
  const path = sourceOf(t);
  const at = join(path, 'node_modules/pkg');
  const look = `
    import { openWorkspaces } from ${JSON.stringify(new URL('../../open-workspaces.ts', import.meta.url).href)};
    const workspaces = openWorkspaces({ dataDir: process.argv[1], allocateOwner: () => ({ uid: 1, gid: 1 }) });
    await workspaces.check({ type: 'git', path: process.argv[2], with: ['node_modules'] })
      .then(() => console.log('accepted'), (error) => console.log(error.code));`;
  const answer = (mounted: string) => {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
    const node = [process.execPath, '--input-type=module', '-e', look, join(t.path, 'data-2'), path];
    const args = ['--mount', 'sh', '-c', script, 'sh', mounted, at, ...node];
    return execFileSync('unshare', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  };
  expect(answer('/etc')).toBe('ESOURCEFORBIDDEN');
  const other = join(t.path, 'other');
  mkdirSync(other);
  expect(answer(other)).toBe('accepted');
});
