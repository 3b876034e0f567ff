import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { createGit } from '../host-git/git.ts';
import { noProgress } from '../source/import-context.ts';
import { rejects, test } from '../testing/fixture.ts';
import { git, owner, readTree, runId } from '../testing/index.ts';
import { checkOutFiles } from './check-out-files.ts';
import { watchSpace } from './watch-space.ts';

/** More than one part, in more folders than a batch has. */
const many = {
  ...Object.fromEntries(Array.from({ length: 2_600 }, (_, n) => [`f${n % 300}/deep/file-${n}.txt`, `file ${n}\n`])),
  ...{ '-a': 'option', 'a:b': 'stream', con: 'device', 'x\\y': 'slash', 'f1/run.sh': { executable: 'x' } },
  ...{ empty: '', way: { link: 'f1/deep' }, 'f2/out': { link: '../../../../etc/passwd' } },
};

describe.each(['directory', 'git'] as const)('a %s with thousands of files', (type) => {
  test('is written as it is, with the objects of its files', { timeout: 60_000 }, async ({ t }) => {
    const source = t.source(many, type);
    const { base, path } = await t.begin({ type, path: source });
    expect(readTree(path, { ignore: ['.git'] })).toEqual(readTree(source, { ignore: ['.git'] }));
    expect(base).toMatchObject({ files: 2_606, files_changed: 2_608 });
    for (const [name, mode] of Object.entries({ 'f3/deep/file-3.txt': 0o644, 'f1/run.sh': 0o755, f1: 0o755 })) {
      const status = statSync(join(path, name));
      expect([status.mode & 0o7777, status.uid, status.gid]).toEqual([mode, owner.uid, owner.gid]);
    }
    expect(git(t.shadow(runId), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    const walked = await t.reopen().snapshot({ epoch: 1, runId, parent: base.id, message: 'walk' });
    expect(walked.id).toBe(base.id);
    const left = readdirSync(join(t.dataDir, 'runs', runId)).filter((name) => name.startsWith('check-out'));
    expect(left).toEqual([]);
  });
});

test('folders are made while the objects of the files arrive', async ({ t }) => {
  const source = t.source({ 'lib/a.txt': 'a\n' }, 'git');
  const leaf = { mode: 0o100644 as const, oid: git(source, 'rev-parse', 'HEAD:lib/a.txt') };
  const root = { entries: new Map([['lib', { entries: new Map([['a.txt', leaf]]) }]]) };
  const [to, gitDir] = [join(t.path, 'to'), join(t.path, 'empty.git')];
  mkdirSync(to);
  git(t.path, 'init', '-q', '--bare', gitDir);
  const arrive = async () => {
    await expect.poll(() => existsSync(join(to, 'lib'))).toBe(true);
    cpSync(join(source, '.git/objects'), join(gitDir, 'objects'), { recursive: true });
  };
  const context = { ...noProgress(), maybeYield: () => undefined };
  const place = { gitDir, root, to, temporary: t.path, owner: undefined, context };
  await checkOutFiles({ git: createGit({}) }, { ...place, objects: arrive() });
  expect(readTree(to)).toEqual(readTree(source, { ignore: ['.git'] }));
});

test('permissions do not depend on the umask of the worker', async ({ t }) => {
  const source = t.source({ 'a.txt': 'a', 'b/run.sh': { executable: 'x' } }, 'git');
  const before = process.umask(0o077);
  try {
    const { path } = await t.begin({ type: 'git', path: source });
    const modes = ['a.txt', 'b', 'b/run.sh'].map((name) => statSync(join(path, name)).mode & 0o7777);
    expect(modes).toEqual([0o644, 0o755, 0o755]);
  } finally {
    process.umask(before);
  }
});

test.for<[string, (path: string) => void]>([
  ['missing', (path) => rmSync(path)],
  ['damaged', (path) => writeFileSync(path, 'no object')],
])('a source with a %s object is broken', async ([_, damage], { t }) => {
  const source = t.source({ 'a.txt': 'a', 'b.txt': 'b' }, 'git');
  const oid = git(source, 'rev-parse', 'HEAD:b.txt');
  const object = join(source, '.git/objects', oid.slice(0, 2), oid.slice(2));
  rmSync(object, { force: true });
  writeFileSync(object, '');
  damage(object);
  await rejects(t.workspaces.materialise({ runId, source: { type: 'git', path: source } }), 'ESOURCEBROKEN');
  expect(readdirSync(join(t.dataDir, 'runs'))).toEqual([]);
});

test('an object with the content of another one is noticed', async ({ t }) => {
  const source = t.source({ 'a.txt': 'a', 'b.txt': 'b' }, 'git');
  const [a, b] = ['a.txt', 'b.txt'].map((name) => git(source, 'rev-parse', `HEAD:${name}`));
  const at = (oid = '') => join(source, '.git/objects', oid.slice(0, 2), oid.slice(2));
  rmSync(at(b));
  copyFileSync(at(a), at(b));
  await rejects(t.workspaces.materialise({ runId, source: { type: 'git', path: source } }), 'ESOURCEBROKEN');
});

test('programs are stopped when the disk has too little space', ({ t }) => {
  using enough = watchSpace({ dataDir: t.path, limits: { freeBytes: 0 } }, undefined);
  expect(enough.signal.aborted).toBe(false);
  using full = watchSpace({ dataDir: t.path, limits: { freeBytes: Number.MAX_SAFE_INTEGER } }, undefined);
  expect(full.signal.reason).toMatchObject({ code: 'ENOSPC' });
});
