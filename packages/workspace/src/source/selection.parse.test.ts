import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import type { Progress } from '../port/workspaces.ts';
import { test } from '../testing/fixture.ts';
import { git, initRepository, readTree, runId, type Temporary, temporary, writeTree } from '../testing/index.ts';
import { createSelection } from './import-context.ts';

test.each([
  [{ exclude: ['node_modules'] }, ['a.ts', 'src/b.ts'], ['node_modules/x', 'src/node_modules/y/z']],
  [{ exclude: ['/x'.slice(1), '*.log'] }, ['src/a.ts'], ['x', 'x/y', 'deep/a.log']],
  [{ exclude: ['src/*.ts'] }, ['src/a/b.ts', 'a.ts'], ['src/a.ts']],
  [{ include: ['src/**', 'package.json'] }, ['src/a', 'src/.hidden/b', 'x/package.json'], ['docs/a', 'a']],
  [{ include: ['src/'], exclude: ['src/gen'] }, ['src/a'], ['src/gen/a', 'b']],
  [{ include: ['{a,b}/**'] }, ['a/x', 'b/x'], ['c/x']],
  [{ include: ['{src,lib}/{a,b}.ts', '{x,y/z}/**'] }, ['src/a.ts', 'lib/b.ts', 'x/1', 'y/z/1'], ['src/c.ts', 'y/1']],
  [
    { exclude: ['app/(shop)', 'c++', 'a|b', '[id]?', '{x}'] },
    ['app/shop/x', 'a', 'b'],
    ['app/(shop)/x', 'c++/y', 'a|b', 'i1'],
  ],
  [{ include: ['**'], exclude: ['**/*.test.*', '[ab]*'] }, ['c/x.ts'], ['c/x.test.ts', 'bc', 'd/a']],
  [{ exclude: ['\\*', 'we\\{ird,'] }, ['x', 'y/z'], ['*', 'we{ird,']],
  [{ exclude: ['.env*'] }, ['env'], ['.env', 'x/.env.local']],
])('%j', (globs, wanted, unwanted) => {
  const selection = createSelection(globs);
  for (const path of wanted) expect(selection.has(path), path).toBe(true);
  for (const path of unwanted) expect(selection.has(path), path).toBe(false);
});

test.for(['', '/abs', '../up', 'a/../../b', '!a', './', '+(a|b)', '[a', '*a*a*a*b', '{1..3}', '{a,b}'.repeat(7)])(
  'rejects the glob %j',
  async (glob, { t }) => {
    const source = join(t.path, 'source');
    mkdirSync(source);
    await expect(t.workspaces.check({ type: 'directory', path: source, exclude: [glob] })).rejects.toMatchObject({
      code: 'EGLOBINVALID',
    });
  },
);

const files = {
  'src/a.ts': 'a\n',
  'src/b.log': 'log\n',
  'secret/key': 'key\n',
  'docs/x.md': 'x\n',
  'node_modules/p/index.js': 'p\n',
  'only/deep/x.log': 'log\n',
};

test('hostile globs and names are matched in linear time', () => {
  const name = 'a'.repeat(255);
  const path = Array.from({ length: 15 }, () => name).join('/');
  const many = ['**/*a*ab/**/b', '*a*a/*a*a/*a*a/*a*ab', '**/a*/**/a*/**/a*/**/*b', '{a,*a}*ab', '(a+)+b', '(a|a)+b'];
  expect(createSelection({ exclude: many }).has(path)).toBe(true);
});

async function start(t: Temporary, type: 'directory' | 'git') {
  const source = t.source(files, type);
  const selected: Source = { type, path: source, exclude: ['secret', 'node_modules', '*.log'] };
  const base = await t.workspaces.materialise({ runId, source: selected });
  return { source, base, path: await t.tree() };
}

test.for(['directory', 'git'] as const)(
  'copies only selected files of a %s, and a publish leaves the rest alone',
  async (type, { t }) => {
    const { source, base, path } = await start(t, type);
    expect(Object.keys(readTree(path)).sort()).toEqual(['docs', 'docs/x.md', 'only', 'only/deep', 'src', 'src/a.ts']);
    writeTree(path, { 'src/a.ts': 'A\n', 'src/new.ts': 'new\n' });
    rmSync(join(path, 'docs'), { recursive: true });
    const final = await t.snapshot(base.id);
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    const now =
      type === 'git' ? git(source, 'ls-tree', '-r', '--name-only', `holdpoint/${runId}`).split('\n') : undefined;
    const found = now ?? Object.entries(readTree(source)).flatMap(([file, text]) => (text === 'folder' ? [] : [file]));
    const { 'docs/x.md': _, ...rest } = files;
    expect(found.sort()).toEqual([...Object.keys(rest), 'src/new.ts'].sort());
  },
);

test.for(['directory', 'git'] as const)(
  'a run file at the path of an excluded file of a %s is left out',
  async (type, { t }) => {
    const { source, base, path } = await start(t, type);
    writeTree(path, { 'secret/key': 'made up\n' });
    const final = await t.snapshot(base.id);
    const request = { runId, snapshot: final.id, target: { message: 'm' } };
    const { conflicts, left_out } = await t.workspaces.planPublish(request);
    expect(conflicts).toEqual([]);
    expect(left_out).toEqual([{ path: 'secret/', reason: 'excluded', files: 1, bytes: 8 }]);
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    expect(readTree(source)['secret/key']).toBe('file key\n');
  },
);

test.each(['directory', 'git'] as const)('rejects a too large %s before it is a workspace', async (type) => {
  using t = temporary({ limits: { sourceBytes: 1000 } });
  const source = t.source({ a: 'a'.repeat(600), b: 'b'.repeat(600) }, type);
  const all = { type, path: source };
  await expect(t.workspaces.materialise({ runId, source: all })).rejects.toMatchObject({ code: 'ESOURCETOOLARGE' });
  await expect(t.workspaces.locate({ runId: runId, epoch: 1 })).rejects.toMatchObject({ code: 'EWORKSPACEMISSING' });
  expect(await t.workspaces.materialise({ runId, source: { ...all, exclude: ['b'] } })).toMatchObject({ files: 1 });
});

test('reports progress of a long copy, and lists submodules', async ({ t }) => {
  const source = join(t.path, 'source');
  const many = Object.fromEntries(
    Array.from({ length: 3000 }, (_, index) => [`d${index % 50}/f${index}`, `${index}\n`]),
  );
  writeTree(source, many);
  const seen: Progress[] = [];
  const onProgress = (progress: Progress) => void seen.push(progress);
  await t.workspaces.materialise({ runId, source: { type: 'directory', path: source }, onProgress });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.map(({ files }) => files)).toEqual(seen.map(({ files }) => files).sort((a, b) => a - b));

  const module = join(t.path, 'module');
  writeTree(module, { m: 'm' });
  const commit = initRepository(module);
  const outer = join(t.path, 'outer');
  writeTree(outer, { a: 'a' });
  initRepository(outer);
  git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'lib/module');
  git(outer, 'commit', '-q', '-m', 'module');
  const made = await t.workspaces.materialise({ runId: 'run_2', source: { type: 'git', path: outer } });
  expect(made.submodules).toEqual([{ path: 'lib/module', commit }]);
  expect(await t.reopen().materialise({ runId: 'run_2', source: { type: 'git', path: outer } })).toEqual(made);
});
