import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, gitBytes, initRepository, runId, type Temporary } from '../testing/index.ts';
import { buildIndex, clearStatFields, clearStatFieldsOfLarge } from '../tree/index-file.ts';

const files = {
  'a.txt': 'a\n',
  'secret/key': 'key\n',
  'src/b.txt': 'b\n',
  '.gitignore': 'a.txt\n',
  'src/link': { link: 'b.txt' },
};

async function start(t: Temporary, source: (path: string) => Source) {
  const path = t.source(files);
  const commit = initRepository(path);
  git(path, 'add', '--force', '-A');
  git(path, 'commit', '-q', '--amend', '-m', 'Wörk\n\nof a user', '--author', 'Ünï <u@localhost>');
  const made = await t.workspaces.materialise({ runId, source: source(path) });
  const located = await t.workspaces.locate({ runId, epoch: 1 });
  return { source: path, commit, made, tree: located.path, ...located.repository };
}

const sources: readonly (readonly [string, (path: string) => Source, string])[] = [
  ['a directory', (path) => ({ type: 'directory', path }), 'Base of the run'],
  ['a git repository', (path) => ({ type: 'git', path }), 'Wörk\n\nof a user'],
  ['part of a git repository', (path) => ({ type: 'git', path, exclude: ['secret'] }), 'Wörk\n\nof a user'],
  ['nothing', () => ({ type: 'empty' }), 'Base of the run'],
];

test.for(sources)('a workspace of %s has a clean repository with one commit', async ([_, source, message], { t }) => {
  const { tree } = await start(t, source);
  expect(git(tree, 'status', '--porcelain', '--ignored')).toBe('');
  expect(git(tree, 'log', '--format=%B')).toBe(message);
  expect(git(tree, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(gitBytes(tree, ['ls-files', '-z']).toString().split('\0').filter(Boolean)).toEqual(
    gitBytes(tree, ['ls-tree', '-r', '-z', '--name-only', 'HEAD']).toString().split('\0').filter(Boolean),
  );
});

test('excluded files are in no object that commands can read', async ({ t }) => {
  const { tree, objects } = await start(t, (path) => ({ type: 'git', path, exclude: ['secret'] }));
  const key = execFileSync('git', ['hash-object', '--stdin'], { input: 'key\n' }).toString().trim();
  expect(git(t.shadow(runId), 'cat-file', '-t', key)).toBe('blob');
  expect(() => git(tree, 'cat-file', '-t', key)).toThrow();
  expect(readdirSync(join(objects, 'pack')).length).toBe(2);
});

test('another user of the host cannot read the objects', async ({ t }) => {
  const { objects } = await start(t, (path) => ({ type: 'directory', path }));
  expect(statSync(join(objects, '..')).mode & 0o077).toBe(0);
});

test('the index equals the one git writes, apart from status fields', async ({ t }) => {
  const { tree } = await start(t, (path) => ({ type: 'directory', path }));
  const fresh = readFileSync(join(tree, '.git/index'));
  utimesSync(join(tree, 'a.txt'), 1, 1);
  git(tree, 'status');
  const refreshed = readFileSync(join(tree, '.git/index'));
  expect(refreshed.equals(fresh)).toBe(false);
  expect(clearStatFields(refreshed)).toEqual(fresh);
  git(tree, 'add', '--intent-to-add', '--force', 'a.txt');
  expect(clearStatFields(Buffer.from('DIRC'))).toBeUndefined();
  expect(clearStatFields(Buffer.concat([fresh, Buffer.from('x')]))).toBeUndefined();
  for (let length = 12; length < fresh.length; length += 7)
    expect(clearStatFields(fresh.subarray(0, length))).toBeUndefined();
  expect(Buffer.concat(await Array.fromAsync(buildIndex({ entries: new Map() }))).length).toBe(32);
  expect(clearStatFields(fresh)).toBe(fresh);
  expect(await clearStatFieldsOfLarge(refreshed)).toEqual(fresh);
});

test('a file outside .git with the content of an index is restored exactly', async ({ t }) => {
  const { made, tree } = await start(t, (path) => ({ type: 'directory', path }));
  const index = readFileSync(join(tree, '.git/index'));
  writeFileSync(join(tree, 'fixture'), index);
  const { id } = await t.workspaces.snapshot({ runId, epoch: 1, parent: made.id, message: 'x' });
  git(tree, 'status');
  writeFileSync(join(tree, 'fixture'), readFileSync(join(tree, '.git/index')));
  await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
  expect(readFileSync(join(tree, 'fixture'))).toEqual(index);
});

test('a dropped tree gets its repository back from the snapshot alone', async ({ t }) => {
  const { made, tree, objects } = await start(t, (path) => ({ type: 'directory', path }));
  writeFileSync(join(tree, 'a.txt'), 'changed\n');
  git(tree, 'commit', '-qam', 'changed');
  const { id } = await t.workspaces.snapshot({ runId, epoch: 1, parent: made.id, message: 'x' });
  await t.workspaces.collect(runId);
  await t.workspaces.dropTree({ runId, epoch: 1 });
  expect(existsSync(objects)).toBe(false);
  await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
  expect(git(tree, 'log', '--format=%s')).toBe('changed\nBase of the run');
  expect(git(tree, 'fsck', '--strict', '--no-dangling')).toBe('');
});
