import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import { git, readTree, runId, runUntilKilled, stride, tried, writeTree } from '../../testing/index.ts';

const second = 'run_2';

/** Enough files for threads, with content that git would store as it is and content that it would not. */
const many = Object.fromEntries(
  Array.from({ length: 400 }, (_, n) => [`folder-${n % 7}/deep/file-${n}.txt`, `file ${n}\n`.repeat(n)]),
);

const packsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.pack'));
const packFolder = (shadow: string) => join(shadow, 'objects/pack');
const sharedPacks = (shadow: string) =>
  packsIn(packFolder(shadow)).filter((name) => statSync(join(packFolder(shadow), name)).nlink > 2);
const fsck = (shadow: string) => git(shadow, 'fsck', '--full', '--strict', '--no-dangling');
const entries = (dataDir: string) =>
  readdirSync(join(dataDir, 'sources'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('entry.json'),
  );

describe.each(['directory', 'git'] as const)('a second run of a %s', (type) => {
  test('links the objects of the first', async ({ t }) => {
    const path = t.source({ ...many, 'large.bin': 'x'.repeat(1_500_000), way: { link: 'large.bin' } }, type);
    chmodSync(join(path, 'folder-1/deep/file-1.txt'), 0o755);
    if (type === 'git') git(path, 'commit', '-qam', 'mode');
    const first = await t.begin({ type, path });
    const again = await t.begin({ type, path }, second);
    expect(again.base).toMatchObject({ files: 401, bytes: first.base.bytes, files_changed: 402 });
    expect(readTree(again.path)).toEqual(readTree(first.path));
    expect(readTree(again.path, { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
    const shared = sharedPacks(t.shadow(second));
    expect(shared).toEqual(sharedPacks(t.shadow(runId)));
    expect(shared.length).toBeGreaterThan(0);
    for (const run of [runId, second]) expect(fsck(t.shadow(run))).toBe('');
    // The run's own commits are in the only other pack.
    expect(packsIn(packFolder(t.shadow(second)))).toHaveLength(shared.length + 1);
    await t.workspaces.collect(second);
    expect(sharedPacks(t.shadow(second))).toEqual(shared);
    await t.workspaces.discard(runId);
    expect(fsck(t.shadow(second))).toBe('');
    expect((await t.snapshot(again.id, second)).id).toBe(again.id);
  });

  test('has no object of a file that was removed from the source', async ({ t }) => {
    const path = t.source({ ...many, '.env': 'PASSWORD=hunter2\n', kept: 'kept\n' }, type);
    await t.begin({ type, path });
    rmSync(join(path, '.env'));
    appendFileSync(join(path, 'folder-1/deep/file-1.txt'), 'more\n');
    if (type === 'git') git(path, 'commit', '-qam', 'without');
    const { path: tree } = await t.begin({ type, path, ...(type === 'git' && { history: 'none' as const }) }, second);
    expect(readTree(tree, { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
    const contents = git(t.shadow(second), 'cat-file', '--batch-all-objects', '--batch');
    expect(contents).toContain('\nkept\n');
    expect(contents).not.toContain('hunter2');
    expect(fsck(t.shadow(second))).toBe('');
  });

  test('makes the objects again when those of the first are torn', async ({ t }) => {
    const path = t.source(many, type);
    const first = await t.begin({ type, path });
    const [entry = ''] = entries(t.dataDir).filter((name) => name.includes('/trees/'));
    const folder = join(t.dataDir, 'sources', entry, '..');
    const [pack = ''] = packsIn(folder);
    // A copy, as after a power failure: the first run's own pack stays whole.
    rmSync(join(folder, pack));
    writeFileSync(join(folder, pack), Buffer.alloc(0));
    truncateSync(join(folder, pack), 4096);
    const again = await t.begin({ type, path }, second);
    expect(readTree(again.path)).toEqual(readTree(first.path));
    expect(fsck(t.shadow(second))).toBe('');
    const third = await t.begin({ type, path }, 'run_3');
    expect(sharedPacks(t.shadow('run_3'))).toEqual(sharedPacks(t.shadow(second)));
    expect(readTree(third.path)).toEqual(readTree(first.path));
  });

  test('makes the objects again when any byte of those of the first has changed', async ({ t }) => {
    const path = t.source(many, type);
    const first = await t.begin({ type, path });
    const [entry = ''] = entries(t.dataDir).filter((name) => name.includes('/trees/'));
    const folder = join(t.dataDir, 'sources', entry, '..');
    const [pack = ''] = packsIn(folder);
    const bytes = readFileSync(join(folder, pack));
    rmSync(join(folder, pack));
    const at = 12 + Math.floor(Math.random() * (bytes.length - 12));
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(folder, pack), bytes);
    const again = t.reopen();
    await again.materialise({ runId: second, source: { type, path } });
    const { path: tree } = await again.locate({ runId: second, epoch: 1 });
    expect(readTree(tree), `flipped ${at}`).toEqual(readTree(first.path));
    expect(fsck(t.shadow(second)), `flipped ${at}`).toBe('');
    const [aside = ''] = readdirSync(join(t.dataDir, 'trash'));
    expect(readFileSync(join(t.dataDir, 'trash', aside, 'damage.json'), 'utf8')).toContain(pack);
  });

  test('makes an entry again whose record a power cut has emptied', async ({ t }) => {
    const path = t.source(many, type);
    await t.begin({ type, path });
    const [record = ''] = entries(t.dataDir).filter((name) => name.includes('/trees/'));
    writeFileSync(join(t.dataDir, 'sources', record), '');
    await t.begin({ type, path }, second);
    const third = await t.begin({ type, path }, 'run_3');
    expect(sharedPacks(t.shadow('run_3'))).toEqual(sharedPacks(t.shadow(second)));
    expect(sharedPacks(t.shadow('run_3')).length).toBeGreaterThan(0);
    expect(readTree(third.path, { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
    expect(fsck(t.shadow('run_3'))).toBe('');
  });

  test('takes nothing from an entry that was copied to the name of another tree', async ({ t }) => {
    const path = t.source(many, type);
    await t.begin({ type, path });
    const [record = ''] = entries(t.dataDir).filter((name) => name.includes('/trees/'));
    const entry = join(t.dataDir, 'sources', record, '..');
    appendFileSync(join(path, 'folder-1/deep/file-1.txt'), 'more\n');
    if (type === 'git') git(path, 'commit', '-qam', 'more');
    await t.begin({ type, path }, second);
    const [other = ''] = readdirSync(join(entry, '..')).filter((name) => !entry.endsWith(name));
    rmSync(join(entry, '../', other), { recursive: true });
    cpSync(entry, join(entry, '../', other), { recursive: true });
    const third = await t.begin({ type, path }, 'run_3');
    expect(readTree(third.path, { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
    expect(fsck(t.shadow('run_3'))).toBe('');
  });

  test('of another tenant shares nothing, and 0 bytes keep nothing', async ({ t }) => {
    const path = t.source(many, type);
    const source = { type, path };
    for (const tenant of ['a', 'b']) await t.workspaces.materialise({ runId: `run_${tenant}`, source, tenant });
    const [a, b] = ['run_a', 'run_b'].map((run) => new Set(sharedPacks(t.shadow(run))));
    expect(a?.size).toBeGreaterThan(0);
    expect(a?.isDisjointFrom(b ?? new Set())).toBe(true);
    const before = entries(t.dataDir).length;
    const none = t.reopen({ limits: { poolBytes: 0 } });
    await none.materialise({ runId: 'run_c', source, tenant: 'c' });
    expect(entries(t.dataDir)).toHaveLength(before);
    await none.tidy({ isKnown: () => Promise.resolve(true) });
    expect(readdirSync(join(t.dataDir, 'sources'), { recursive: true }).join()).not.toContain('pack-');
    for (const run of ['run_a', 'run_b', 'run_c']) expect(fsck(t.shadow(run))).toBe('');
  });

  test('at the same time, by another process, ends in the same', async ({ t }) => {
    const path = t.source(many, type);
    const others = [t.workspaces, t.reopen(), t.reopen()];
    await Promise.all(others.map((one, n) => one.materialise({ runId: `run_${n}`, source: { type, path } })));
    for (const n of others.keys()) {
      expect(fsck(t.shadow(`run_${n}`))).toBe('');
      expect(readTree(await t.tree(`run_${n}`), { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
    }
    expect(entries(t.dataDir).filter((name) => name.includes('/trees/'))).toHaveLength(1);
  });

  test('succeeds after a process was killed at each point', async ({ t }) => {
    const path = t.source({ 'a.txt': 'a', 'b/c.txt': 'c' }, type);
    await t.begin({ type, path }, 'run_0');
    let killed = 0;
    for (let dieAt = 1; ; dieAt += stride) {
      writeTree(path, { 'a.txt': `a ${dieAt}` });
      if (type === 'git') git(path, 'commit', '-qam', `${dieAt}`);
      const input = {
        dataDir: t.dataDir,
        runId: `run_${dieAt}`,
        dieAt,
        act: { verb: 'materialise', source: { type, path } },
      };
      if (!runUntilKilled(input)) break;
      killed += 1;
      const { path: tree } = await t.begin({ type, path }, `run_${dieAt}`);
      expect(readTree(tree, { ignore: ['.git'] })).toEqual(readTree(path, { ignore: ['.git'] }));
      expect(fsck(t.shadow(`run_${dieAt}`))).toBe('');
    }
    expect(killed).toBeGreaterThanOrEqual(tried(9));
    expect(existsSync(join(t.dataDir, 'making')) ? readdirSync(join(t.dataDir, 'making')) : []).toEqual([]);
  });
});
