import { chmodSync, cpSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileDiffSchema } from '@holdpoint/contract';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, gitBytes, readTree, runId, temporary, writeTree } from '../testing/index.ts';

const long = Array.from({ length: 60 }, (_, line) => `line ${line}\n`).join('');

/** Two snapshots with every kind of change. */
async function start(t: ReturnType<typeof temporary>) {
  const source = t.source({
    'text.txt': long,
    'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
    'no-newline': 'end',
    'bin.dat': new Uint8Array([0, 1, 2, 3, 0xff]),
    'latin.txt': Buffer.from('caf\xe9\nsame\n', 'latin1'),
    'mode.sh': 'x\n',
    'both.sh': 'x\n',
    'gone/away/file': 'bye\n',
    link: { link: 'text.txt' },
    'to-link': 'a file\n',
    'to-folder': 'a file\n',
    'to-file/inside': 'x\n',
    'with space': 'a\n',
    'quote"back\\slash': 'a\n',
    'new\nline': 'a\n',
    ünï: 'ü\n',
    'same.txt': 'same\n',
    'strange.txt': '-- old\n++ new\n@@ -1 +1 @@\ndiff --git a/x b/x\n--- a/x\n',
    'cr.txt': 'a\rb\u2028c\n',
    '.gitattributes': '* binary\n',
    'emptied.txt': 'x\n',
  });
  writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x66, 0xe9, 0x22])]), 'a\n');
  const { base, path } = await t.begin(source);
  const at = (name: string) => join(path, name);
  writeTree(path, {
    'text.txt': long.replace('line 3\n', 'line three\nand more\n').replace('line 50\n', ''),
    'crlf.txt': 'one\r\n2\r\nthree\r\n',
    'no-newline': 'end\nand more',
    'bin.dat': new Uint8Array([0, 1, 9, 3, 0xff, 0]),
    'latin.txt': Buffer.from('caf\xe8\nsame\n', 'latin1'),
    'both.sh': 'y\n',
    'new/folder/file': 'new\n',
    'new/empty.txt': '',
    'new/script': { executable: '#!/bin/sh\n' },
    'with space': 'b\n',
    'quote"back\\slash': 'b\n',
    'new\nline': 'b\n',
    ünï: 'ö\n',
    'strange.txt': '-- OLD\n++ new\n@@ -2 +2 @@\ndiff --git a/y b/y\n--- a/y\n',
    'cr.txt': 'a\rB\u2028c\n',
    'emptied.txt': '',
    'trail ': 'x\n',
  });
  writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x66, 0xe9, 0x22])]), 'b\n');
  chmodSync(at('mode.sh'), 0o755);
  chmodSync(at('both.sh'), 0o755);
  rmSync(at('gone'), { recursive: true });
  for (const name of ['link', 'to-link', 'to-folder', 'to-file']) rmSync(at(name), { recursive: true });
  symlinkSync('crlf.txt', at('link'));
  symlinkSync('anywhere', at('to-link'));
  writeTree(path, { 'to-folder/inside': 'x\n', 'to-file': 'x\n', 'new-link': { link: 'a b\nc' } });
  const next = await t.snapshot(base.id);
  return { base, next, source, path };
}

describe('patch', () => {
  test.for(['forth', 'back'] as const)('can be applied by git: %s', async (way, { t }) => {
    const { base, next, source, path } = await start(t);
    const [from, to] = way === 'forth' ? [base.id, next.id] : [next.id, base.id];
    const [before, after] = way === 'forth' ? [source, path] : [path, source];
    const patch = await t.workspaces.patch({ runId, from, to });
    const copy = join(t.path, 'copy');
    cpSync(before, copy, { recursive: true, verbatimSymlinks: true });
    gitBytes(copy, ['apply', '--check', '--whitespace=nowarn', '-'], patch);
    gitBytes(copy, ['apply', '--whitespace=nowarn', '-'], patch);
    expect(readTree(copy)).toEqual(readTree(after));
  });

  test('is empty for equal snapshots, and can be limited to a path', async ({ t }) => {
    const { base, next } = await start(t);
    expect(await t.workspaces.patch({ runId, from: base.id, to: base.id })).toEqual(Buffer.alloc(0));
    const one = String(await t.workspaces.patch({ runId, from: base.id, to: next.id, path: 'with space' }));
    expect(one.match(/^diff --git/gm)).toHaveLength(1);
    expect(one).toContain('a/with space');
  });

  test('beyond the limit is rejected', async () => {
    using t = temporary({ limits: { diffBytes: 1000 } });
    const { base, next } = await start(t);
    const refused = t.workspaces.patch({ runId, from: base.id, to: next.id });
    await expect(refused).rejects.toMatchObject({
      code: 'EDIFFTOOLARGE',
      next: expect.stringMatching(/^Ask for one path at a time,/),
    });
  });
});

describe('diff', () => {
  test('lists status, modes and hunks of each file', async ({ t }) => {
    const { base, next } = await start(t);
    const { files } = await t.workspaces.diff({ runId, from: base.id, to: next.id });
    for (const file of files) fileDiffSchema.parse(file);
    const rows = git(t.shadow(runId), 'diff-tree', '-r', '-M', '--name-only', '-z', base.id, next.id);
    expect(files).toHaveLength(rows.split('\0').filter(Boolean).length);
    const by = Object.fromEntries(files.map((file) => [file.path, file]));

    expect(by['text.txt']).toMatchObject({ status: 'modified', binary: false, additions: 2, deletions: 2 });
    expect(by['text.txt']?.hunks.map(({ lines: _, ...hunk }) => hunk)).toEqual([
      { old_start: 1, old_lines: 7, new_start: 1, new_lines: 8 },
      { old_start: 48, old_lines: 7, new_start: 49, new_lines: 6 },
    ]);
    expect(by['crlf.txt']?.hunks[0]?.lines).toEqual([' one\r', '-two\r', '+2\r', ' three\r']);
    expect(by['no-newline']?.hunks[0]?.lines.slice(0, 3)).toEqual(['-end', '\\ No newline at end of file', '+end']);
    expect(by['strange.txt']?.hunks[0]?.lines).toEqual([
      ...['--- old', '+-- OLD', ' ++ new', '-@@ -1 +1 @@', '-diff --git a/x b/x', '---- a/x'],
      ...['+@@ -2 +2 @@', '+diff --git a/y b/y', '+--- a/y'],
    ]);
    expect(by['cr.txt']?.hunks[0]?.lines).toEqual(['-a\rb\u2028c', '+a\rB\u2028c']);
    expect(by['bin.dat']).toMatchObject({ binary: true, additions: 0, deletions: 0, hunks: [] });
    expect(by['mode.sh']).toMatchObject({ status: 'modified', old_mode: '100644', new_mode: '100755', hunks: [] });
    expect(by['both.sh']).toMatchObject({ old_mode: '100644', new_mode: '100755', additions: 1, deletions: 1 });
    expect(by['gone/away/file']).toMatchObject({ status: 'deleted', old_mode: '100644', new_mode: null, deletions: 1 });
    expect(by['new/script']).toMatchObject({ status: 'added', old_mode: null, new_mode: '100755', additions: 1 });
    expect(by['new/script']?.hunks[0]).toMatchObject({ old_start: 0, old_lines: 0, new_start: 1, new_lines: 1 });
    expect(by['new/empty.txt']).toMatchObject({ status: 'added', additions: 0, hunks: [] });
    expect(by['to-link']).toMatchObject({
      status: 'modified',
      old_mode: '100644',
      new_mode: '120000',
      additions: 1,
      deletions: 1,
    });
    expect(by['latin.txt']?.hunks[0]?.lines).toContain('-caf\ufffd');
    expect(by['"f\\351\\""']).toMatchObject({ status: 'modified', additions: 1 });
    expect(by['new\nline']).toMatchObject({ status: 'modified' });
    expect(by['same.txt']).toBeUndefined();
  });

  test('can be limited to a file, a folder or a quoted name', async ({ t }) => {
    const { base, next } = await start(t);
    const paths = async (path: string) =>
      (await t.workspaces.diff({ runId, from: base.id, to: next.id, path })).files.map((file) => file.path);
    expect(await paths('new')).toEqual(['new/empty.txt', 'new/folder/file', 'new/script']);
    expect(await paths('*.txt')).toEqual([]);
    expect(await paths(':(top)new')).toEqual([]);
    expect(await paths('"f\\351\\""')).toEqual(['"f\\351\\""']);
    expect(await paths('trail ')).toEqual(['trail ']);
    expect(await paths('nothing')).toEqual([]);
  });

  test('counts the lines of a large text without its hunks; the patch is exact', async () => {
    using t = temporary({ limits: { hunkBytes: 1000 } });
    const { base, path } = await t.begin({ type: 'empty' });
    writeFileSync(join(path, 'large.txt'), 'word\n'.repeat(1000));
    const { id } = await t.snapshot(base.id);
    const { files } = await t.workspaces.diff({ runId, from: base.id, to: id });
    expect(files).toMatchObject([{ binary: false, too_large: 'counted', additions: 1000, deletions: 0, hunks: [] }]);
    expect(String(await t.workspaces.patch({ runId, from: base.id, to: id }))).toContain('+word\n');
    writeFileSync(join(path, 'large.txt'), `${'word\n'.repeat(400)}changed\n${'word\n'.repeat(599)}no newline`);
    writeFileSync(join(path, 'large.bin'), Buffer.alloc(2000));
    const next = await t.snapshot(id);
    const changed = (await t.workspaces.diff({ runId, from: id, to: next.id })).files;
    expect(changed).toMatchObject([
      { path: 'large.bin', binary: true, additions: 0 },
      { path: 'large.txt', binary: false, too_large: 'counted', additions: 2, deletions: 1 },
    ]);
    expect(changed[0]?.too_large).toBeUndefined();
    const numstat = git(t.shadow(runId), 'diff-tree', '-r', '--numstat', id, next.id, '--', 'large.txt');
    expect(numstat).toBe('2\t1\tlarge.txt');
  });

  test('does not look at a text over the limit of a patch, and says so', async () => {
    using t = temporary({ limits: { hunkBytes: 1000, diffBytes: 4000 } });
    const { base, path } = await t.begin({ type: 'empty' });
    writeFileSync(join(path, 'large.txt'), 'word\n'.repeat(1000));
    const { id } = await t.snapshot(base.id);
    const { files } = await t.workspaces.diff({ runId, from: base.id, to: id });
    expect(files).toMatchObject([{ binary: true, too_large: 'uncounted', additions: 0, hunks: [] }]);
  });

  test('omits hunks beyond the budget and counts their lines', async ({ t }) => {
    const { base, path } = await t.begin({ type: 'empty' });
    writeFileSync(join(path, 'a.txt'), 'x\n'.repeat(60_000));
    writeFileSync(join(path, 'b.txt'), 'y\n'.repeat(60_000));
    writeFileSync(join(path, 'c.txt'), 'z');
    const { id } = await t.snapshot(base.id);
    const { files } = await t.workspaces.diff({ runId, from: base.id, to: id });
    expect(files.map(({ additions, hunks, omitted }) => [additions, hunks.length, omitted])).toEqual([
      [60_000, 1, undefined],
      [60_000, 0, true],
      [1, 1, undefined],
    ]);
    const alone = await t.workspaces.diff({ runId, from: base.id, to: id, path: 'b.txt' });
    expect(alone.files[0]?.hunks[0]?.lines).toHaveLength(60_000);
  });

  test('rejects an unknown snapshot', async ({ t }) => {
    const base = await t.workspaces.materialise({ runId, source: { type: 'empty' } });
    for (const to of ['HEAD', '--output=/tmp/x', 'f'.repeat(40)]) {
      await expect(t.workspaces.diff({ runId, from: base.id, to })).rejects.toMatchObject({ code: 'ESNAPSHOTUNKNOWN' });
    }
  });
});

test('a moved file is a single entry with its edit alone; in the patch the move is a deleted and an added file', async ({
  t,
}) => {
  const { base, path } = await t.begin({ type: 'empty' });
  writeTree(path, { old: long });
  const one = await t.snapshot(base.id);
  renameSync(join(path, 'old'), join(path, 'new'));
  writeFileSync(join(path, 'new'), `${long}one more\n`);
  const two = await t.snapshot(one.id);
  const between = { runId, from: one.id, to: two.id };
  const { files } = await t.workspaces.diff(between);
  expect(files).toMatchObject([{ path: 'new', moved_from: 'old', status: 'modified', additions: 1, deletions: 0 }]);
  for (const file of files) fileDiffSchema.parse(file);
  expect((await t.workspaces.diff({ ...between, path: 'new' })).files).toEqual(files);
  expect((await t.workspaces.diff({ ...between, path: 'old' })).files).toMatchObject([
    { path: 'old', status: 'deleted' },
  ]);
  const patch = String(await t.workspaces.patch(between));
  expect([patch.includes('deleted file mode'), patch.includes('rename from')]).toEqual([true, false]);
});

test('many diffs at once each have the right files', async ({ t }) => {
  const base = await t.workspaces.materialise({ runId: 'run_many', source: { type: 'empty' } });
  const path = await t.tree('run_many');
  const ids = [base.id];
  for (let step = 0; step < 6; step++) {
    writeTree(path, { [`f${step}`]: `end ${step}\n`.repeat(step + 1) });
    ids.push((await t.workspaces.snapshot({ epoch: 1, runId: 'run_many', parent: ids.at(-1) ?? '', message: 'x' })).id);
    const [from = '', to = ''] = ids.slice(-2);
    const { files } = await t.workspaces.diff({ runId: 'run_many', from, to });
    expect(files.map((file) => `${file.path} +${file.additions}`)).toEqual([`f${step} +${step + 1}`]);
  }
  const pairs = ids.flatMap((from, a) => ids.map((to, b) => ({ from, to, a, b })));
  const answers = await Promise.all(pairs.map(({ from, to }) => t.workspaces.diff({ runId: 'run_many', from, to })));
  for (const [index, { a, b }] of pairs.entries()) expect(answers[index]?.files).toHaveLength(Math.abs(a - b));

  await t.workspaces.discard('run_many');
  const again = await t.workspaces.materialise({ runId: 'run_many', source: { type: 'empty' } });
  writeTree(await t.tree('run_many'), { other: 'other\n' });
  const other = await t.snapshot(again.id, 'run_many');
  const { files: diff } = await t.workspaces.diff({ runId: 'run_many', from: again.id, to: other.id });
  expect(diff.map((file) => file.path)).toEqual(['other']);
});

const names = fc.constantFrom('a', 'b', 'c/d', 'c/e', 'f/g/h', 'caf\u00e9');
const edits = fc.array(fc.nat(19), { maxLength: 6 });
/** A tree of similar and equal files, and where some of them are afterwards, edited or not. */
const trees = fc.record({
  before: fc.dictionary(names, fc.record({ kind: fc.nat(3), edits }), { minKeys: 2 }),
  moves: fc.dictionary(names, fc.constantFrom('a', 'm/a', 'm/b', 'z', 'c/new'), { minKeys: 2 }),
  edited: fc.dictionary(names, edits),
});

const textOf = ({ kind, edits }: { kind: number; edits: number[] }): string =>
  Array.from({ length: 20 }, (_, line) => `${kind} ${line} ${edits.includes(line) ? 'edited' : 'as before'}\n`).join(
    '',
  );

test('renames and counts are those of git diff -M, for any two trees', async ({ t }) => {
  const { base, path } = await t.begin({ type: 'empty' });
  let parent = base.id;
  const snapshotOf = async (tree: Record<string, { kind: number; edits: number[] }>) => {
    for (const name of readdirSync(path).filter((one) => one !== '.git')) rmSync(join(path, name), { recursive: true });
    writeTree(path, Object.fromEntries(Object.entries(tree).map(([name, of]) => [name, textOf(of)])));
    parent = (await t.snapshot(parent)).id;
    return parent;
  };
  await fc.assert(
    fc.asyncProperty(trees, async ({ before, moves, edited }) => {
      const after = Object.fromEntries(
        Object.entries(before).map(([name, of]) => {
          return [moves[name] ?? name, { ...of, edits: [...of.edits, ...(edited[name] ?? [])] }];
        }),
      );
      const [from, to] = [await snapshotOf(before), await snapshotOf(after)];
      const shown = (await t.workspaces.diff({ runId, from, to })).files;
      const rows = git(t.shadow(runId), 'diff', '-M', '--numstat', '-z', from, to);
      const real = [...rows.matchAll(/(\d+)\t(\d+)\t(?:\0([^\0]+)\0([^\0]+)|([^\0]+))\0?/g)].map(
        ([, additions, deletions, old, now, same]) => [now ?? same, old, Number(additions), Number(deletions)],
      );
      expect(shown.map((file) => [file.path, file.moved_from, file.additions, file.deletions])).toEqual(real);
    }),
    { numRuns: 40, seed: 3 },
  );
}, 120_000);

test('ten thousand deleted and ten thousand added files take a bounded time', async ({ t }) => {
  const { base, path } = await t.begin({ type: 'empty' });
  const many = (folder: string, word: string) =>
    Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`${folder}/${index % 50}/${word}${index}`, `${word} ${index}\n`]),
    );
  writeTree(path, many('old', 'x'));
  const one = await t.snapshot(base.id);
  rmSync(join(path, 'old'), { recursive: true });
  writeTree(path, many('new', 'y'));
  const two = await t.snapshot(one.id);
  const began = process.cpuUsage();
  const started = performance.now();
  const shown = (await t.workspaces.diff({ runId, from: one.id, to: two.id })).files;
  expect(shown).toHaveLength(20_000);
  const plain = performance.now();
  git(t.shadow(runId), 'diff-tree', '-r', '-p', '--no-renames', one.id, two.id);
  // Beside the same diff without a search for renames: a search of all pairs would take minutes.
  expect(plain - started).toBeLessThan(20 * (performance.now() - plain) + 5000);
  expect(process.cpuUsage(began).user).toBeLessThan(20_000_000);
}, 180_000);
