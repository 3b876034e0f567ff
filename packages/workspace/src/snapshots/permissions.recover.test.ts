import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type FileTree, writeTree } from '../testing/file-tree.ts';
import { test } from '../testing/fixture.ts';
import { runId, runUntilKilled, stride, type Temporary, temporary } from '../testing/index.ts';
import { gitBytes } from '../testing/real-git.ts';

/** Permission bits of everything in a folder except a repository at its top, in octal. */
function bitsIn(folder: string): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const names = all.filter((name) => name.split('/')[0] !== '.git');
  return Object.fromEntries(names.map((name) => [name, (statSync(join(folder, name)).mode & 0o7777).toString(8)]));
}

function chmodAll(folder: string, bits: Record<string, number>): void {
  for (const [path, mode] of Object.entries(bits)) chmodSync(join(folder, path), mode);
}

const files: FileTree = { 'a.txt': 'a\n', 'key.pem': 'old key\n', 'bin/tool': { executable: '#!/bin/sh\n' } };

async function start(t: Temporary, prepare: (source: string) => void = () => {}) {
  const source = t.source(files);
  prepare(source);
  const { base: made, path } = await t.begin(source);
  const take = (parent: string, paths?: string[]) =>
    t.workspaces.snapshot({ runId, epoch: 1, parent, message: '', ...(paths && { paths }) });
  return { source, made, path, take };
}

/** Creates files and folders that others cannot read. */
function closeSome(path: string): void {
  writeTree(path, { 'new.key': 'k\n', 'private/deep/x': 'x\n', 'team.txt': 't\n', 'open.txt': 'o\n' });
  chmodAll(path, { 'new.key': 0o600, private: 0o700, 'team.txt': 0o640, 'bin/tool': 0o750, 'open.txt': 0o664 });
}

const closed = {
  ...{ 'a.txt': '644', bin: '755', 'bin/tool': '750', 'key.pem': '644', 'new.key': '600', private: '700' },
  ...{ 'private/deep': '755', 'private/deep/x': '644', 'team.txt': '640' },
};

describe('permissions denied to group or others', () => {
  test('are restored by a restore, a take-over and a fork', async ({ t }) => {
    const { made, path, take } = await start(t);
    closeSome(path);
    const { id } = await take(made.id);
    const all = { ...closed, 'open.txt': '644' };
    await t.workspaces.restore({ runId, epoch: 1, snapshot: made.id });
    await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
    expect(bitsIn(path)).toEqual(all);
    chmodAll(path, { 'new.key': 0o644, private: 0o755, 'a.txt': 0o600, bin: 0o700 });
    await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
    expect(bitsIn(path)).toEqual(all);
    await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: id } });
    expect(bitsIn((await t.workspaces.locate({ runId: 'run_2', epoch: 1 })).path)).toEqual(all);
    await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
    expect(bitsIn((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual(all);
  });

  test('make a new snapshot when nothing else changed', async ({ t }) => {
    const { made, path, take } = await start(t);
    expect(await take(made.id)).toMatchObject({ id: made.id });
    chmodSync(join(path, 'a.txt'), 0o600);
    const known = await take(made.id, ['a.txt']);
    expect(known).toMatchObject({ parent: made.id, files_changed: 0 });
    expect(await take(known.id)).toMatchObject({ id: known.id });
    chmodSync(join(path, 'key.pem'), 0o600);
    const whole = await take(known.id);
    chmodSync(join(path, 'a.txt'), 0o644);
    const again = await take(whole.id, ['a.txt']);
    await t.workspaces.restore({ runId, epoch: 1, snapshot: known.id });
    expect(bitsIn(path)).toMatchObject({ 'a.txt': '600', 'key.pem': '644' });
    await t.workspaces.restore({ runId, epoch: 1, snapshot: again.id });
    expect(bitsIn(path)).toMatchObject({ 'a.txt': '644', 'key.pem': '600' });
  });

  test('are merged with the files of another run', async ({ t }) => {
    const { made, path, take } = await start(t);
    await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: made.id } });
    const child = (await t.workspaces.locate({ runId: 'run_2', epoch: 1 })).path;
    closeSome(child);
    writeFileSync(join(path, 'a.txt'), 'mine\n');
    chmodSync(join(path, 'key.pem'), 0o640);
    const parent = await take(made.id);
    const snapshot = (await t.workspaces.snapshot({ runId: 'run_2', epoch: 1, parent: made.id, message: '' })).id;
    const from = { runId: 'run_2', snapshot, base: made.id };
    expect(await t.workspaces.merge({ runId, epoch: 1, parent: parent.id, from, message: '' })).toMatchObject({
      status: 'merged',
    });
    expect(bitsIn(path)).toMatchObject({ 'new.key': '600', private: '700', 'team.txt': '640', 'key.pem': '640' });
  });

  test('take few bytes in a fully private tree', async ({ t }) => {
    const { made, path, take } = await start(t, (source) => {
      for (let n = 0; n < 300; n++) writeTree(source, { [`d${n % 10}/f${n}`]: `${n}` });
      for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
        chmodSync(
          join(source, name),
          statSync(join(source, name)).isDirectory() || name === 'bin/tool' ? 0o700 : 0o600,
        );
      }
      chmodSync(join(source, 'a.txt'), 0o644);
    });
    const before = bitsIn(path);
    expect(new Set(Object.values(before))).toEqual(new Set(['600', '700', '644']));
    expect(gitBytes(t.shadow(runId), ['cat-file', 'commit', made.id]).length).toBeLessThan(1000);
    mkdirSync(join(path, 'd0/open'));
    writeFileSync(join(path, 'd0/open/file'), '');
    chmodAll(path, { 'd0/open': 0o755, 'd0/open/file': 0o644 });
    const next = await take(made.id);
    await t.workspaces.takeOver({ runId, epoch: 2, snapshot: next.id });
    expect(bitsIn((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual({
      ...{ ...before, 'd0/open': '755', 'd0/open/file': '644' },
    });
  });
});

/** Node has no API to set them. */
const python = (code: string, ...args: string[]): string =>
  execFileSync('python3', ['-c', `import os, sys\n${code}`, ...args], { encoding: 'utf8' }).trim();

const canHoldAttributes = (() => {
  const path = join(mkdtempSync(join(tmpdir(), 'holdpoint-xattr-')), 'file');
  try {
    writeFileSync(path, '');
    python('os.setxattr(sys.argv[1], "user.note", b"x")', path);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(join(path, '..'), { recursive: true });
  }
})();

describe('a publish to a directory', () => {
  test.skipIf(!canHoldAttributes)(
    'keeps extended attributes of a replaced file (where python3 and /tmp have them)',
    async () => {
      const warned: object[] = [];
      using t = temporary({ logger: { info: () => {}, warn: (fields) => warned.push(fields) } });
      const { source, made, path, take } = await start(t, (at) => {
        python('os.setxattr(sys.argv[1], "user.note", b"kept")', join(at, 'a.txt'));
        chmodSync(join(at, 'a.txt'), 0o640);
      });
      for (const name of ['a.txt', 'key.pem']) writeFileSync(join(path, name), 'changed\n');
      const { id } = await take(made.id);
      await t.publish({ snapshot: id });
      const list =
        'print({n: os.getxattr(sys.argv[1], n) for n in os.listxattr(sys.argv[1]) if n.startswith("user.")})';
      expect(python(list, join(source, 'a.txt'))).toBe("{'user.note': b'kept'}");
      expect(python(list, join(source, 'key.pem'))).toBe('{}');
      expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('changed\n');
      expect(bitsIn(source)).toMatchObject({ 'a.txt': '640', 'key.pem': '644' });
      expect(warned).toEqual([]);
    },
  );

  test('gives new files no wider permissions than the run, wherever it is killed', async () => {
    for (let dieAt = 1; ; dieAt += stride) {
      using t = temporary();
      const { source, made, path, take } = await start(t, (at) => chmodSync(at, 0o755));
      closeSome(path);
      const { id } = await take(made.id);
      const isKilled = runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'publish', snapshot: id } });
      expect(await t.publish({ snapshot: id, message: 'publish' })).toMatchObject({ status: 'published' });
      // A publish ignores a change of permissions alone, and git stores 664 as 644.
      expect(bitsIn(source)).toEqual({ ...closed, 'bin/tool': '755', 'open.txt': '644' });
      if (!isKilled) break;
    }
  });

  test('keeps the permissions of a replaced file minus what the run removed', async ({ t }) => {
    const { source, made, path, take } = await start(t, (at) => chmodAll(at, { 'a.txt': 0o664, 'bin/tool': 0o711 }));
    for (const name of ['a.txt', 'key.pem', 'bin/tool']) writeFileSync(join(path, name), 'changed\n');
    chmodSync(join(path, 'key.pem'), 0o600);
    const { id } = await take(made.id);
    await t.publish({ snapshot: id });
    expect(bitsIn(source)).toEqual({ 'a.txt': '664', bin: '755', 'bin/tool': '711', 'key.pem': '600' });
  });
});
