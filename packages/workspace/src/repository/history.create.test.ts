import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, initRepository, runId, type Temporary } from '../testing/index.ts';

type GitSource = Extract<Source, { type: 'git' }>;

/** A repository of six commits, one of them a merge, with another branch, a stash and a remote. */
function repository(t: Temporary): string {
  const path = t.source({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
  initRepository(path);
  const change = (name: string, text: string) => {
    writeFileSync(join(path, name), text);
    git(path, 'add', '-A');
    git(path, 'commit', '-qm', `${name} ${text.trim().replaceAll('\n', ' ')}`);
  };
  change('old.txt', 'removed later\n');
  git(path, 'checkout', '-qb', 'side');
  change('side.txt', 'side\n');
  git(path, 'checkout', '-q', 'main');
  git(path, 'rm', '-q', 'old.txt');
  change('a.txt', 'one\ntwo\n');
  git(path, 'merge', '-q', '--no-edit', 'side');
  git(path, 'checkout', '-qb', 'private');
  change('private.txt', 'of another branch\n');
  git(path, 'checkout', '-q', 'main');
  writeFileSync(join(path, 'b.txt'), 'stashed\n');
  git(path, 'stash');
  git(path, 'remote', 'add', 'origin', 'https://user:password@example.com/x.git');
  return path;
}

const begin = (t: Temporary, more: Partial<GitSource> = {}) =>
  t.begin({ type: 'git', path: repository(t), ...more } as GitSource);

const sourceOf = (t: Temporary) => join(t.path, 'source');

test('log, blame and show read the history of the source', async ({ t }) => {
  const { path } = await begin(t);
  const source = sourceOf(t);
  for (const args of [
    ['log', '--format=%H %P %an %ad %s'],
    ['blame', 'a.txt'],
    ['show', 'HEAD~2:old.txt'],
    ['log', '-p', '--', 'old.txt'],
  ])
    expect(git(path, ...args)).toBe(git(source, ...args));
  expect(git(path, 'status', '--porcelain', '--ignored')).toBe('');
  expect(git(path, 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  writeFileSync(join(path, 'a.txt'), 'of the run\n');
  expect(git(path, 'diff', '--stat')).toContain('1 file changed');
});

test('other branches, stashes, remotes and logs of the source are not in it', async ({ t }) => {
  const { path } = await begin(t, { history: 'full' });
  const source = sourceOf(t);
  for (const hidden of ['private', 'stash', 'private:private.txt', 'stash:b.txt']) {
    const id = git(source, 'rev-parse', hidden);
    expect(() => git(path, 'cat-file', '-e', id)).toThrow();
  }
  expect(git(path, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  expect(git(path, 'remote')).toBe('');
  expect(existsSync(join(path, '.git/logs'))).toBe(false);
});

test.for([
  ['a number of commits', { history: 3 }, 3],
  ['one commit', { history: 1 }, 1],
  ['no history', { history: 'none' }, 1],
  ['a glob, which may hide what older commits hold', { exclude: ['b.txt'] }, 1],
] as const)('a source with %s', async ([_, more, commits], { t }) => {
  const { path } = await begin(t, more as Partial<GitSource>);
  expect(git(path, 'log', '--format=%s').split('\n')).toHaveLength(commits);
  expect(git(path, 'status', '--porcelain')).toBe('');
  expect(git(path, 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
});

test('a workspace that differs from the commit has its history, too', async ({ t }) => {
  const path = repository(t);
  git(path, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
  git(path, 'commit', '-qm', 'submodule');
  const { path: tree } = await t.begin({ type: 'git', path });
  const both = [tree, path].map((at) => git(at, 'log', '--format=%s %an %ad').split('\n'));
  expect(both[0]).toEqual(both[1]);
  expect(git(tree, 'rev-parse', 'HEAD~1')).toBe(git(path, 'rev-parse', 'HEAD~1'));
  expect(git(tree, 'status', '--porcelain')).toBe('');
});

test('a damaged history is left out', async ({ t }) => {
  const path = repository(t);
  const blob = git(path, 'rev-parse', 'HEAD~2:old.txt');
  git(path, 'replace', '-f', 'HEAD~1', 'HEAD~2');
  rmSync(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
  const { path: tree } = await t.begin({ type: 'git', path });
  expect(git(tree, 'log', '--format=%s')).toBe("Merge branch 'side'");
});

test('undo, take-over, fork and a dropped tree keep the history, and need no source', async ({ t }) => {
  const { id, path } = await begin(t);
  const log = git(path, 'log', '--format=%H');
  git(path, 'commit', '-qm', 'of the run', '--allow-empty');
  const { id: snapshot } = await t.snapshot(id);
  rmSync(sourceOf(t), { recursive: true });
  await t.workspaces.fork({ runId: 'run_child', from: { runId, snapshot } });
  await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
  expect(git(path, 'log', '--format=%H')).toBe(log);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot });
  const { path: second } = await t.workspaces.locate({ runId, epoch: 2 });
  expect(git(second, 'log', '--format=%H', 'HEAD~1')).toBe(log);
  await t.workspaces.collect(runId);
  await t.workspaces.dropTree({ runId, epoch: 2 });
  await t.workspaces.fork({ runId: 'run_late', from: { runId, snapshot } });
  await t.workspaces.restore({ runId, epoch: 2, snapshot });
  await t.workspaces.discard(runId);
  for (const run of ['run_child', 'run_late']) {
    const tree = await t.tree(run);
    expect(git(tree, 'log', '--format=%H', 'HEAD~1')).toBe(log);
    expect(git(tree, 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  }
});
