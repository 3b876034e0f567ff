import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type FileTree, readTree, writeTree } from '../testing/file-tree.ts';
import { test } from '../testing/fixture.ts';
import { owner, runId, runUntilKilled, temporary } from '../testing/index.ts';
import { git } from '../testing/real-git.ts';

describe('restore', () => {
  test('undoes the changes of two commands', async ({ t }) => {
    const { path, base } = await start(t);
    const first = readTree(path);
    shell(
      path,
      'echo more >> a.txt; rm -r dir; mkdir -p new/er && echo n > new/er/file; ln -sf nowhere link; chmod +x b.txt',
    );
    const second = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'one' });
    const after = readTree(path);
    shell(path, 'rm -rf *; echo lost > a.txt; mkdir b.txt new; echo x > b.txt/inside; mkfifo dir; mkdir -p left/over');
    await t.workspaces.restore({ epoch: 1, runId, snapshot: second.id });
    expect(readTree(path)).toEqual(after);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
    expect(readTree(path)).toEqual(first);
    await t.reopen().restore({ epoch: 1, runId, snapshot: second.id });
    expect(readTree(path)).toEqual(after);
    expect((await t.workspaces.snapshot({ epoch: 1, runId, parent: second.id, message: '' })).id).toBe(second.id);
  });

  test('sets owners, keeps modes, and rewrites only what differs', async ({ t }) => {
    const { path, base } = await start(t);
    chmodSync(join(path, 'a.txt'), 0o640);
    const noted = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    const untouched = lstatSync(join(path, 'b.txt')).ino;
    shell(path, 'echo x >> a.txt; rm -r dir');
    await t.workspaces.restore({ epoch: 1, runId, snapshot: noted.id });
    expect(lstatSync(join(path, 'a.txt')).mode & 0o777).toBe(0o640);
    expect(lstatSync(join(path, 'dir/run.sh')).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(path, 'b.txt')).ino).toBe(untouched);
    const owners = execFileSync('find', [path, '-printf', '%U:%G\n']).toString().trim().split('\n');
    expect([...new Set(owners)]).toEqual([`${owner.uid}:${owner.gid}`]);
  });

  test('keeps skipped paths, but only those that a snapshot noted', async () => {
    using t = temporary({ limits: { fileBytes: 1000 } });
    const { path, base } = await start(t);
    writeFileSync(join(path, 'big'), Buffer.alloc(2000));
    writeFileSync(join(path, 'b.txt'), Buffer.alloc(3000));
    writeTree(path, { 'made/by/step': 'x' });
    execFileSync('mkfifo', [join(path, 'made/pipe')]);
    const noted = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    expect(noted.skipped.map(({ path: skipped }) => skipped)).toEqual(['b.txt', 'big', 'made/pipe']);
    shell(path, 'head -c 5000 /dev/zero > unnoted; mkfifo other; rm made/by/step');

    await t.workspaces.restore({ epoch: 1, runId, snapshot: noted.id });
    expect(Object.keys(readTree(path))).toEqual(expect.arrayContaining(['big', 'made/pipe', 'made/by/step']));
    expect(existsSync(join(path, 'unnoted')) || existsSync(join(path, 'other'))).toBe(false);
    expect(lstatSync(join(path, 'b.txt')).size).toBe(3000);

    await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
    const left = readTree(path);
    expect(left).toMatchObject({ big: expect.anything(), 'made/pipe': 'special' });
    expect(left['made/by']).toBeUndefined();
    expect(left['b.txt']).toBe('file b\n');
  });

  test('restores nested repositories, and removes those not in the snapshot', async ({ t }) => {
    const { path, base } = await start(t);
    git(path, 'init', '-q', 'sub');
    git(path, 'checkout', '-q', '-b', 'topic');
    writeTree(path, { 'sub/file': 'x' });
    const kept = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'repositories' });
    await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
    expect(git(path, 'branch', '--show-current')).toBe('main');
    expect(existsSync(join(path, 'sub'))).toBe(false);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: kept.id });
    expect(git(path, 'branch', '--show-current')).toBe('topic');
    expect(git(join(path, 'sub'), 'status', '--porcelain')).toBe('?? file');
  });

  test('does not leave the tree through a link', async ({ t }) => {
    const { path, base } = await start(t);
    const outside = join(t.path, 'outside');
    writeTree(outside, { 'run.sh': 'mine', other: 'mine' });
    rmSync(join(path, 'dir'), { recursive: true });
    shell(path, `ln -s '${outside}' dir; ln -s '${outside}' extra`);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
    expect(readTree(outside)).toEqual({ 'run.sh': 'file mine', other: 'file mine' });
    expect(lstatSync(join(path, 'dir')).isDirectory()).toBe(true);
  });

  test('that was killed is finished by the next', async ({ t }) => {
    const { path, base } = await start(t);
    const before = readTree(path);
    for (let dieAt = 1; ; dieAt++) {
      shell(path, 'rm -rf dir a.txt; echo x > y; mkdir -p z/z');
      const act = { verb: 'restore', snapshot: base.id };
      if (!runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act })) break;
      await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
      expect(readTree(path)).toEqual(before);
    }
    expect(readTree(path)).toEqual(before);
  });
});

describe('a killed snapshot', () => {
  test('is taken again with the same id', async ({ t }) => {
    const { path, base } = await start(t);
    shell(path, 'rm -r dir; echo x > y');
    const ids = new Set<string>();
    let killed = 0;
    for (let dieAt = 1; ; dieAt++) {
      if (!runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'snapshot', parent: base.id } })) break;
      killed += 1;
      ids.add((await t.reopen().snapshot({ epoch: 1, runId, parent: base.id, message: 'snapshot' })).id);
      expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).not.toMatch(/error|missing/);
    }
    expect(killed).toBe(4);
    expect(ids.size).toBe(1);
  });
});

test('any tree is restored exactly over any other tree', async ({ t }) => {
  const { base, path } = await t.begin({ type: 'empty' });
  const name = fc.oneof(
    fc.constantFrom('a', 'b', 'a.b', 'a-', 'a0', 'A', ' ', '\n', '"', '\\', 'é', '日本'),
    fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }).filter((text) => !/^\.|[/\0]/.test(text)),
  );
  const value = fc.oneof(
    fc.string().map((text) => text),
    fc.uint8Array({ maxLength: 50 }),
    fc.record({ executable: fc.string() }),
    fc.record({ link: fc.string({ minLength: 1 }).filter((text) => !text.includes('\0')) }),
    fc.constant(null),
  );
  const entry = fc.tuple(
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
    value,
  );
  const tree = fc.array(entry, { maxLength: 12 }).map(withoutClashes);
  const fill = (files: FileTree) => {
    for (const child of Object.keys(readTree(path)).filter((below) => !below.includes('/'))) {
      rmSync(Buffer.from(`${path}/${Buffer.from(child, 'latin1').toString()}`), { recursive: true });
    }
    writeTree(path, files);
    return readTree(path);
  };
  await fc.assert(
    fc.asyncProperty(tree, tree, async (one, two) => {
      const first = fill(one);
      const a = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'a' });
      const second = fill(two);
      const b = await t.workspaces.snapshot({ epoch: 1, runId, parent: a.id, message: 'b' });
      await t.workspaces.restore({ epoch: 1, runId, snapshot: a.id });
      expect(readTree(path)).toEqual(first);
      await t.workspaces.restore({ epoch: 1, runId, snapshot: b.id });
      expect(readTree(path)).toEqual(second);
      expect((await t.workspaces.snapshot({ epoch: 1, runId, parent: b.id, message: 'c' })).id).toBe(b.id);
    }),
    { numRuns: 25 },
  );
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).not.toMatch(/error|warning|missing/);
});

/** Drops entries for which a file would have to be a folder. */
function withoutClashes(entries: readonly (readonly [string, FileTree[string]])[]): FileTree {
  const files: FileTree = {};
  for (const [path, value] of entries) {
    const taken = Object.keys(files);
    if (taken.some((other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`))) continue;
    files[path] = value;
  }
  return files;
}

async function start(t: ReturnType<typeof temporary>) {
  const source = t.source({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'dir/run.sh': { executable: 'x' },
    'dir/deep/file': 'd',
    link: { link: 'a.txt' },
    'kept/empty': null,
  });
  const base = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  return { base, path: (await t.workspaces.locate({ runId: runId, epoch: 1 })).path };
}

function shell(cwd: string, command: string): void {
  execFileSync('/bin/sh', ['-c', command], { cwd });
}
