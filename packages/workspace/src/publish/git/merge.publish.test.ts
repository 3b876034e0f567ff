import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublishPlan, Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { readTree, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import { publishNow, runId, takeAll } from '../../testing/index.ts';
import { checkedOut, commitOnMain, startOnMain } from '../../testing/moving-branch.ts';
import { git, initRepository } from '../../testing/real-git.ts';

const isRoot = process.getuid?.() === 0;

const conflictsOf = ({ conflicts }: PublishPlan) => conflicts.map(({ path, reason }) => `${reason} ${path}`);

describe('a merge', () => {
  test('follows the attribute merge: union takes both sides, -merge is a conflict', async ({ t }) => {
    const lines = (...changed: string[]) => `${['1', '2', '3', '4', '5', '6', '7', '8', '9', ...changed].join('\n')}\n`;
    const { repository, plan, publish } = await startOnMain(t, {
      base: {
        '.gitattributes': '*.lock -merge\n*.bin binary\n*.po merge=gettext\n*.log merge=union\n*.set merge\n',
        ...{ 'a.lock': lines(), 'a.bin': lines(), 'a.po': lines(), 'a.log': lines(), 'a.set': lines(), own: lines() },
      },
      run: (path) => {
        const names = ['a.lock', 'a.bin', 'a.po', 'a.set', 'own'];
        writeTree(path, Object.fromEntries(names.map((name) => [name, `run\n${lines()}`])));
        writeTree(path, { 'a.log': lines('run') });
      },
      theirs: (path) => {
        const names = ['a.lock', 'a.bin', 'a.po', 'a.log', 'a.set', 'own'];
        writeTree(path, Object.fromEntries(names.map((name) => [name, lines('theirs')])));
      },
    });
    writeFileSync(join(repository, '.git/info/attributes'), 'own -merge\n');
    const { conflicts } = await plan();
    expect(conflicts.map(({ path, detail }) => [path, detail])).toEqual([
      ['a.bin', expect.stringContaining('exclude it from merges')],
      ['a.lock', expect.stringContaining('exclude it from merges')],
      ['a.po', expect.stringContaining('the merge driver "gettext", and drivers of the host are not run')],
      ['own', expect.stringContaining('exclude it from merges')],
    ]);
    await publish(takeAll(await plan(), 'run'));
    expect(git(repository, 'show', 'main:a.log').split('\n').slice(-2)).toEqual(['theirs', 'run']);
    expect(git(repository, 'show', 'main:a.set').split('\n')).toEqual(['run', ...'123456789', 'theirs']);
  });

  test('merges modes, links, deletions, file and folder swaps, odd names and binaries', async ({ t }) => {
    const odd = Buffer.from('caf\xe9 "\n', 'latin1');
    const { repository, plan, publish } = await startOnMain(t, {
      base: {
        ...{ 'mode.sh': 'x\n', link: { link: 'a' }, gone: 'bye\n', 'folder/one': '1\n', file: 'file\n' },
        ...{ 'theirs.bin': new Uint8Array([0, 1]), 'ours.bin': new Uint8Array([0, 1]), 'deep/er/est': 'x\n' },
      },
      run: (path) => {
        chmodSync(join(path, 'mode.sh'), 0o755);
        for (const name of ['link', 'gone', 'folder', 'file']) rmSync(join(path, name), { recursive: true });
        writeTree(path, { link: { link: 'b' }, folder: 'a file now\n', 'file/inside': 'a folder now\n' });
        writeFileSync(join(path, 'ours.bin'), new Uint8Array([0, 255, 1]));
        writeFileSync(Buffer.concat([Buffer.from(`${path}/`), odd]), 'odd\n');
      },
      theirs: (work) => {
        writeTree(work, { 'mode.sh': 'x\ny\n', 'theirs.bin': new Uint8Array([0, 2, 3]), 'deep/new': 'new\n' });
        rmSync(join(work, 'deep/er/est'));
      },
    });
    const before = { tree: checkedOut(t, repository), git: readTree(join(repository, '.git')) };
    const planned = await plan();
    expect(planned.conflicts).toEqual([]);
    expect({ tree: checkedOut(t, repository), git: readTree(join(repository, '.git')) }).toEqual(before);
    expect(await publish()).toMatchObject({ status: 'published' });
    const tree = checkedOut(t, repository);
    expect(tree).toEqual({
      'mode.sh': 'script x\ny\n',
      link: 'link b',
      folder: 'file a file now\n',
      file: 'folder',
      'file/inside': 'file a folder now\n',
      'theirs.bin': 'file \0\x02\x03',
      'ours.bin': 'file \0\xff\x01',
      deep: 'folder',
      'deep/new': 'file new\n',
      [odd.toString('latin1')]: 'file odd\n',
    });
    expect(git(repository, 'fsck', '--strict')).not.toMatch(/missing|error/);
    // The dry run announced exactly this, and validators saw exactly this.
    const real = git(repository, 'diff', '--raw', '--no-renames', '-z', 'main~1', 'main').split('\0').slice(0, -1);
    const modes = real.filter((_, index) => index % 2 === 0).map((row) => row.slice(1, 14));
    expect(planned.files.map(({ old_mode, new_mode }) => `${old_mode ?? '000000'} ${new_mode ?? '000000'}`)).toEqual(
      modes,
    );
    await t.workspaces.restore({ epoch: 1, runId, snapshot: planned.candidate });
    expect(readTree(await t.tree())).toEqual(tree);
  });

  const swaps = {
    base: {
      ...{ file: 'f\n', 'folder/one': '1\n', link: { link: 'a' }, plain: 'p\n', 'data.bin': new Uint8Array([0, 1]) },
    },
    run: (path: string) => {
      for (const name of ['file', 'folder', 'link', 'plain']) rmSync(join(path, name), { recursive: true });
      writeTree(path, {
        'file/inside': 'run\n',
        folder: 'run\n',
        link: 'run\n',
        plain: { link: 'run' },
        name: 'run\n',
      });
      writeFileSync(join(path, 'data.bin'), new Uint8Array([0, 2]));
    },
    theirs: (work: string) => {
      for (const name of ['link']) rmSync(join(work, name));
      writeTree(work, { file: 'theirs\n', 'folder/one': 'theirs\n', link: { link: 'theirs' }, plain: 'theirs\n' });
      writeTree(work, { 'name/below': 'theirs\n', 'data.bin': new Uint8Array([0, 3]) });
    },
  } satisfies Parameters<typeof startOnMain>[1];

  test('of a file, a link and a folder at one path is a conflict at that path', async ({ t }) => {
    const { plan } = await startOnMain(t, swaps);
    const planned = await plan();
    expect(conflictsOf(planned)).toEqual(
      ['data.bin', 'file', 'folder', 'folder/one', 'link', 'name', 'plain'].map((path) => `merge ${path}`),
    );
    const shown = Object.fromEntries(
      planned.conflicts.map(({ path, versions }) => [
        path,
        [versions?.base, versions?.source, versions?.run].map((one) => one && `${one.mode} ${one.text}`),
      ]),
    );
    expect(shown).toEqual({
      'data.bin': ['100644 null', '100644 null', '100644 null'],
      file: ['100644 f\n', '100644 theirs\n', null],
      folder: [null, null, '100644 run\n'],
      'folder/one': ['100644 1\n', '100644 theirs\n', null],
      link: ['120000 a', '120000 theirs', '100644 run\n'],
      name: [null, null, '100644 run\n'],
      plain: ['100644 p\n', '100644 theirs\n', '120000 run'],
    });
    expect(planned.conflicts.find(({ path }) => path === 'name')?.detail).toMatch(/folder/);
  });

  test('is resolved path by path and never removes a file without a resolution', async ({ t }) => {
    const { repository, plan, publish } = await startOnMain(t, swaps);
    const planned = await plan();
    // A file of the run cannot replace a folder of the branch that holds a file without a resolution.
    const run = takeAll(planned, 'run');
    expect(conflictsOf(await plan(run))).toEqual(['merge name']);
    const nameless = run.map((one): Resolution => (one.path === 'name' ? { ...one, take: 'source' } : one));
    expect(await publish(nameless)).toMatchObject({ status: 'published' });
    expect(checkedOut(t, repository)).toEqual({
      ...{ file: 'folder', 'file/inside': 'file run\n', folder: 'file run\n', link: 'file run\n', plain: 'link run' },
      ...{ name: 'folder', 'name/below': 'file theirs\n', 'data.bin': 'file \0\x02' },
    });
  });

  test('can leave the branch unchanged for a file, a link and a folder at one path', async ({ t }) => {
    const { repository, plan, publish } = await startOnMain(t, {
      ...swaps,
      run: (path) => {
        swaps.run(path);
        rmSync(join(path, 'file'), { recursive: true });
        writeTree(path, { more: 'run\n' });
      },
    });
    const before = checkedOut(t, repository);
    expect(await publish(takeAll(await plan(), 'source'))).toMatchObject({ status: 'published' });
    expect(checkedOut(t, repository)).toEqual({ ...before, more: 'file run\n' });
  });

  test('works without the base commit when the branch no longer contains it', async ({ t }) => {
    const { repository, publish } = await startOnMain(t, {
      base: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      run: (path) => writeFileSync(join(path, 'a.txt'), 'A\n'),
    });
    const base = git(repository, 'rev-parse', 'main');
    git(repository, 'switch', '-q', '--orphan', 'new');
    writeTree(repository, { 'a.txt': 'a\n', 'b.txt': 'B\n' });
    git(repository, 'add', '-A');
    git(repository, 'commit', '-q', '-m', 'new history');
    git(repository, 'branch', '-f', 'main', 'new');
    git(repository, 'branch', '-D', 'elsewhere');
    rmSync(join(repository, '.git/logs'), { recursive: true });
    git(repository, '-c', 'gc.pruneExpire=now', 'prune', '--expire=now');
    expect(() => git(repository, 'cat-file', '-e', base)).toThrow();
    expect(await publish()).toMatchObject({ status: 'published' });
    expect(checkedOut(t, repository)).toEqual({ 'a.txt': 'file A\n', 'b.txt': 'file B\n' });
    expect(git(repository, 'fsck', '--strict')).not.toMatch(/missing|error/);
  });

  test('works with a git without merge-tree --write-tree', async ({ t }) => {
    const old = join(t.path, 'old-git');
    const usage = '    echo "usage: git merge-tree <base-tree> <branch1> <branch2>" >&2; exit 129';
    const body = ['#!/bin/sh', 'for arg; do', '  if [ "$arg" = merge-tree ]; then', usage, '  fi', 'done'];
    writeTree(t.path, { 'old-git': { executable: [...body, 'exec git "$@"', ''].join('\n') } });
    const { final, repository } = await startOnMain(t, {
      base: { 'a.txt': 'a\nb\nc\nd\ne\n' },
      run: (path) => writeFileSync(join(path, 'a.txt'), 'A\nb\nc\nd\ne\n'),
      theirs: (work) => writeFileSync(join(work, 'a.txt'), 'a\nb\nc\nd\nE\n'),
    });
    const workspaces = t.reopen({ gitPath: old });
    expect(await publishNow(workspaces, { runId, snapshot: final.id, branch: 'main' })).toMatchObject({
      status: 'published',
    });
    expect(checkedOut(t, repository)).toEqual({ 'a.txt': 'file A\nb\nc\nd\nE\n' });
  });
});

describe('a file outside the workspace', () => {
  const base = {
    ...{ 'src/a.txt': 'a\n', 'docs/big.txt': 'big\n', 'docs/more.txt': 'more\n', notes: 'notes\n' },
    ...{ 'src/secret.key': 'key\n' },
  };
  const source = { include: ['src'], exclude: ['*.key'] };

  test('keeps the version of the branch, and validators do not see it', async ({ t }) => {
    const { repository, plan, publish, path } = await startOnMain(t, {
      ...{ base, source },
      run: (tree) => writeTree(tree, { 'src/a.txt': 'A\n', 'src/new.txt': 'new\n' }),
      theirs: (work) => {
        writeTree(work, { 'docs/big.txt': 'bigger\n', 'src/theirs.txt': 't\n', 'src/secret.key': 'other\n' });
        rmSync(join(work, 'docs/more.txt'));
      },
    });
    const planned = await plan();
    expect(planned.files.map((file) => file.path)).toEqual(['src/a.txt', 'src/new.txt']);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: planned.candidate });
    expect(readTree(path)).toEqual({
      ...{ src: 'folder', 'src/a.txt': 'file A\n', 'src/new.txt': 'file new\n', 'src/theirs.txt': 'file t\n' },
    });
    expect(await publish()).toMatchObject({ status: 'published' });
    expect(checkedOut(t, repository)).toEqual({
      ...{ docs: 'folder', 'docs/big.txt': 'file bigger\n', notes: 'file notes\n', src: 'folder' },
      ...{ 'src/a.txt': 'file A\n', 'src/new.txt': 'file new\n', 'src/theirs.txt': 'file t\n' },
      'src/secret.key': 'file other\n',
    });
  });

  test.for([false, true])('is never overwritten (the branch moved: %s)', async (hasMoved, { t }) => {
    const { repository, plan, publish } = await startOnMain(t, {
      ...{ base, source },
      run: (tree) => writeTree(tree, { notes: 'run\n', 'src/a.txt': 'A\n' }),
      ...(hasMoved && { theirs: (work) => writeTree(work, { notes: 'notes, later\n' }) }),
    });
    const planned = await plan();
    expect(conflictsOf(planned)).toEqual([]);
    expect(planned.left_out).toEqual([{ path: 'notes', reason: 'excluded', files: 1, bytes: 4 }]);
    expect(await publish()).toMatchObject({ status: 'published' });
    const notes = hasMoved ? 'file notes, later\n' : 'file notes\n';
    expect(checkedOut(t, repository)).toMatchObject({ notes, 'src/a.txt': 'file A\n' });
  });

  test('is not removed by a folder or file of the run at its path', async ({ t }) => {
    const { repository, plan } = await startOnMain(t, {
      ...{ base: { ...base, 'src/keys/a.key': 'a\n' }, source },
      run: (tree) => {
        rmSync(join(tree, 'src/keys'), { recursive: true, force: true });
        writeTree(tree, { 'notes/below': 'run\n', docs: 'run\n', 'src/keys': 'run\n' });
      },
    });
    const { conflicts, left_out } = await plan();
    expect(conflicts).toMatchObject([{ path: 'src/keys', reason: 'changed_in_source' }]);
    expect(left_out.map(({ path }) => path)).toEqual(['docs', 'notes/']);
    expect(checkedOut(t, repository)).toMatchObject({ notes: 'file notes\n', 'src/keys/a.key': 'file a\n' });
  });

  test('old and new submodules stay and are not replaced by files of the run', async ({ t }) => {
    const module = join(t.path, 'module');
    writeTree(module, { m: 'm' });
    initRepository(module);
    const add = (work: string, at: string) => {
      git(work, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--force', '--name', at, module, at);
    };
    const { repository, plan, publish, path, final } = await startOnMain(t, {
      base: { 'a.txt': 'a\n' },
      run: (tree) => writeTree(tree, { 'a.txt': 'A\n' }),
      theirs: (work) => add(work, 'deep/module'),
    });
    expect(await publish()).toMatchObject({ status: 'published' });
    expect(git(repository, 'ls-tree', 'main', 'deep/')).toMatch(/^160000 commit/);
    expect(git(repository, 'show', 'main:a.txt')).toBe('A');
    commitOnMain(t, repository, (work) => add(work, 'taken'));
    writeTree(path, { taken: 'a file of the run\n' });
    const next = await t.snapshot(final.id);
    const planned = await t.workspaces.planPublish({
      ...{ runId, snapshot: next.id, target: { branch: 'main', message: 'm' } },
    });
    expect(conflictsOf(planned)).toEqual(['changed_in_source taken']);
    expect((await plan()).conflicts).toEqual([]);
  });
});

test('content that git fsck refuses is rejected with a reason', async ({ t }) => {
  const { repository, publish } = await startOnMain(t, {
    base: { 'a.txt': 'a\n' },
    run: (path) =>
      writeTree(path, { '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = /x\n\tupdate = !touch /x\n' }),
  });
  const main = git(repository, 'rev-parse', 'main');
  await expect(publish()).rejects.toMatchObject({ code: 'EGITREFUSED', retryable: false });
  expect(git(repository, 'rev-parse', 'main')).toBe(main);
});

test('a fork merges like its parent run', async ({ t }) => {
  const { repository, final } = await startOnMain(t, {
    base: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    run: (path) => writeFileSync(join(path, 'a.txt'), 'A\n'),
    theirs: (work) => writeFileSync(join(work, 'b.txt'), 'B\n'),
  });
  const forked = await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: final.id } });
  await t.workspaces.discard(runId);
  const path = await t.tree('run_2');
  writeFileSync(join(path, 'c.txt'), 'C\n');
  const next = await t.snapshot(forked.id, 'run_2');
  const result = await t.publish({ runId: 'run_2', snapshot: next.id, branch: 'main' });
  expect(result).toMatchObject({ status: 'published' });
  expect(checkedOut(t, repository)).toEqual({ 'a.txt': 'file A\n', 'b.txt': 'file B\n', 'c.txt': 'file C\n' });
});

test('the source may be a linked work tree of another user', async ({ t }) => {
  const repository = join(t.path, 'repository');
  writeTree(repository, { 'a.txt': 'a\n' });
  initRepository(repository);
  const linked = join(t.path, 'linked');
  git(repository, 'worktree', 'add', '-q', '-b', 'linked', linked);
  if (isRoot) execFileSync('chown', ['-R', '20002:20003', repository, linked]);
  const made = await t.workspaces.materialise({ runId, source: { type: 'git', path: linked } });
  writeFileSync(join(await t.tree(), 'a.txt'), 'A\n');
  const final = await t.snapshot(made.id);
  for (const branch of ['main', 'linked']) {
    const refused = await t.publish({ snapshot: final.id, branch });
    expect(refused).toMatchObject({ conflicts: [{ reason: 'branch_checked_out' }] });
  }
  expect(await t.publish({ snapshot: final.id, branch: 'new' })).toMatchObject({ status: 'published' });
  expect(git(repository, 'show', 'new:a.txt')).toBe('A');
  if (!isRoot) return;
  const others = execFileSync('find', [repository, linked, '-not', '-user', '20002']);
  expect(others.toString()).toBe('');
});

test('only the tip of a moved branch is fetched', async ({ t }) => {
  const { repository, publish } = await startOnMain(t, {
    base: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    run: (path) => renameSync(join(path, 'a.txt'), join(path, 'c.txt')),
    theirs: (work) => symlinkSync('b.txt', join(work, 'first')),
  });
  const inBetween = git(repository, 'rev-parse', 'main');
  commitOnMain(t, repository, (work) => writeFileSync(join(work, 'b.txt'), 'B\n'));
  expect(await publish()).toMatchObject({ status: 'published' });
  expect(() => git(t.shadow(runId), 'cat-file', '-e', inBetween)).toThrow();
  expect(checkedOut(t, repository)).toEqual({ 'b.txt': 'file B\n', 'c.txt': 'file a\n', first: 'link b.txt' });
});
