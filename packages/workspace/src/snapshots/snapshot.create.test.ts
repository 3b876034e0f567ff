import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { WorkspaceError } from '../errors.ts';
import { objectId } from '../store/objects/index.ts';
import { rejects, test } from '../testing/fixture.ts';
import { git, gitBytes, owner, readTree, runId, temporary, writeTree } from '../testing/index.ts';

/** A tree with the difficult cases of git trees. */
function writeOddTree(root: string): void {
  writeTree(root, {
    'a.txt': 'a\n',
    'a/b': 'sorts after a.txt and a-b, before a0',
    'a-b': '',
    a0: 'x',
    'with space': 'y',
    'quote"and\\backslash': 'z',
    'new\nline\ttab': 'n',
    ünï: 'utf-8',
    'crlf.txt': 'one\r\ntwo\r\n',
    'no-newline': 'end',
    'bin.dat': new Uint8Array([0, 255, 1, 254, 10, 13]),
    'run.sh': { executable: '#!/bin/sh\n' },
    link: { link: 'a.txt' },
    dangling: { link: '/nowhere/at/all' },
    'deep/er/est/file': 'deep',
    'empty/folder': null,
    '-dash': 'option?',
    '.gitattributes': '* text eol=crlf ident filter=evil\n',
    '.gitignore': '*\n',
    'nested/repo/file': 'nested',
    'lfs.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`,
    'sub/.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'sub/real.bin': new Uint8Array([0, 13, 10, 26]),
    large: Buffer.alloc(5 * 1024 * 1024, 'large file '),
  });
  for (const name of [Buffer.from([0x66, 0xe9, 0x0a]), Buffer.from([0xff, 0xfe])]) {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), 'not utf-8');
  }
}

describe('the tree of a snapshot', () => {
  test('equals the tree that git writes, and passes fsck', async ({ t }) => {
    const source = join(t.path, 'source');
    writeOddTree(source);
    git(join(source, 'nested/repo'), 'init', '-q');
    const base = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });

    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true });
    rmSync(join(copy, 'nested/repo/.git'), { recursive: true });
    git(copy, 'init', '-q');
    mkdirSync(join(copy, '.git/info'), { recursive: true });
    writeFileSync(join(copy, '.git/info/attributes'), '* -text !eol -ident -filter\n');
    git(copy, 'add', '-A', '--force');
    const expected = git(copy, 'write-tree');
    const check = (run: string, snapshot: string) => {
      expect(git(t.shadow(run), 'rev-parse', `${snapshot}^{tree}`)).toBe(expected);
      expect(git(t.shadow(run), 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    };
    check(runId, base.id);
    expect(base.skipped).toEqual([]);

    await t.workspaces.collect(runId);
    check(runId, base.id);
    await t.workspaces.fork({ runId: 'run_fork', from: { runId, snapshot: base.id } });
    const walked = await t.workspaces.snapshot({ epoch: 1, runId: 'run_fork', parent: base.id, message: 'walk' });
    expect(walked.id).toBe(base.id);
    const { path } = await t.workspaces.locate({ runId: 'run_fork', epoch: 1 });
    expect(readTree(path)).toEqual(readTree(source, { ignore: ['.git'] }));
    check('run_fork', walked.id);
  });

  test('of an empty source is the empty tree', async ({ t }) => {
    const base = await t.workspaces.materialise({ runId, source: { type: 'empty' } });
    expect(base).toMatchObject({ parent: null, files_changed: 0, files: 0, bytes: 0, base_commit: null });
    expect(git(t.shadow(runId), 'ls-tree', '-r', base.id)).toBe('');
    expect(git(t.shadow(runId), 'fsck', '--strict')).not.toMatch(/error|missing/);
  });

  test('omits every spelling of .git and nothing else', async ({ t }) => {
    const { base, path } = await t.begin({ type: 'empty' });
    const evil = [
      ...['.git', '.GIT', '.Git ', 'git~1', 'GIT~1', '.git.', '.git...', '.g\u200cit', '.git::$INDEX_ALLOCATION'],
    ];
    const good = ['.gitignore', '.github', 'git', 'x.git', 'git~2', '.gitt'];
    writeTree(path, Object.fromEntries([...evil, ...good].map((name) => [`${name}/config`, name])));
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    const names = gitBytes(t.shadow(runId), ['ls-tree', '-z', '--name-only', id])
      .toString()
      .split('\0')
      .filter(Boolean);
    expect(names.sort()).toEqual(good.sort());
    expect(git(t.shadow(runId), 'fsck', '--strict')).not.toMatch(/error|warning/);
  });
});

describe('snapshot', () => {
  test('returns the parent without a change, and the same id when repeated', async ({ t }) => {
    const { base, path } = await start(t);
    expect(await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' })).toMatchObject({
      id: base.id,
      files_changed: 0,
    });
    writeFileSync(join(path, 'new'), 'new');
    const first = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' });
    expect(first).toMatchObject({ parent: base.id, files_changed: 1, skipped: [] });
    expect(await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' })).toEqual(first);
    expect(await t.reopen().snapshot({ epoch: 1, runId, parent: base.id, message: 'x' })).toEqual(first);
    expect(git(t.shadow(runId), 'for-each-ref', '--format=%(refname)', 'refs/snapshots').split('\n')).toHaveLength(2);
  });

  test('detects every kind of change', async ({ t }) => {
    const { base, path } = await start(t);
    writeFileSync(join(path, 'a.txt'), 'changed');
    execFileSync('chmod', ['+x', join(path, 'dir/b.txt')]);
    rmSync(join(path, 'dir/c.txt'));
    renameSync(join(path, 'other'), join(path, 'moved'));
    rmSync(join(path, 'link'));
    writeFileSync(join(path, 'link'), 'a file now');
    const { id, files_changed } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'all' });
    expect(files_changed).toBe(6);
    const rows = git(t.shadow(runId), 'diff-tree', '-r', '--no-renames', '--name-status', base.id, id).split('\n');
    expect(rows).toEqual(['M\ta.txt', 'M\tdir/b.txt', 'D\tdir/c.txt', 'T\tlink', 'A\tmoved/d.txt', 'D\tother/d.txt']);
  });

  test('detects a change of the same size, even with restored times', async ({ t }) => {
    const { base, path } = await start(t);
    const file = join(path, 'a.txt');
    let parent = base.id;
    for (let round = 0; round < 30; round++) {
      const { atime, mtime } = lstatSync(file);
      writeFileSync(file, `round ${round % 10}\n`);
      utimesSync(file, atime, mtime);
      const next = await t.workspaces.snapshot({ epoch: 1, runId, parent, message: `${round}` });
      expect(next.files_changed).toBe(1);
      expect(git(t.shadow(runId), 'show', `${next.id}:a.txt`)).toBe(`round ${round % 10}`);
      parent = next.id;
    }
  });

  test('with known paths reads only those', async ({ t }) => {
    const { base, path } = await start(t);
    writeFileSync(join(path, 'a.txt'), 'changed');
    writeFileSync(join(path, 'unseen'), 'unseen');
    rmSync(join(path, 'other'), { recursive: true });
    writeTree(path, { 'new/deep/file': 'x' });
    const paths = ['./a.txt', 'other/d.txt', 'new/deep/file', 'never/was', '.git/config'];
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'known', paths });
    const rows = git(t.shadow(runId), 'diff-tree', '-r', '--no-renames', '--name-status', base.id, id).split('\n');
    expect(rows).toEqual(['M\ta.txt', 'A\tnew/deep/file', 'D\tother/d.txt']);
    const walked = await t.workspaces.snapshot({ epoch: 1, runId, parent: id, message: 'walk' });
    expect(walked.files_changed).toBe(1);
  });

  test('with all paths known equals the snapshot of a walk', async ({ t }) => {
    const { base, path } = await start(t);
    rmSync(join(path, 'dir'), { recursive: true });
    writeTree(path, { dir: 'a file in place of a folder', 'link2/x': 'y', 'e/f/g': null });
    const paths = ['dir', 'dir/b.txt', 'link2/x', 'e'];
    const known = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'm', paths });
    expect(await t.reopen().snapshot({ epoch: 1, runId, parent: base.id, message: 'm' })).toEqual(known);
  });

  test.for<[what: string, paths: string[], change: (at: (path: string) => string) => void]>([
    ['a new directory', ['new', 'new/deep'], (at) => mkdirSync(at('new/deep'), { recursive: true })],
    ['a directory in an empty one', ['hollow/in'], (at) => mkdirSync(at('hollow/in'))],
    ['the last file of a directory', ['other/d.txt'], (at) => rmSync(at('other/d.txt'))],
    ['an empty directory', ['hollow'], (at) => rmSync(at('hollow'), { recursive: true })],
    ['a directory with its files', ['dir'], (at) => rmSync(at('dir'), { recursive: true })],
    ['a moved file', ['a.txt', 'hollow/b.txt'], (at) => renameSync(at('a.txt'), at('hollow/b.txt'))],
    ['a moved link', ['way', 'other/way'], (at) => renameSync(at('way'), at('other/way'))],
    ['a moved directory', ['dir', 'hollow/dir'], (at) => renameSync(at('dir'), at('hollow/dir'))],
  ])('with known paths sees %s', async ([, paths, change], { t }) => {
    const { base, path } = await start(t);
    const at = (name: string) => join(path, name);
    mkdirSync(at('hollow'));
    symlinkSync('dir', at('way'));
    const before = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'before' });
    change(at);
    const call = { epoch: 1, runId, parent: before.id, message: 'm' };
    const known = await t.workspaces.snapshot({ ...call, paths });
    expect(known.id).not.toBe(before.id);
    expect(await t.reopen().snapshot(call)).toEqual(known);
  });

  test.for(['../x', '/etc/passwd', 'a/../../x', 'a\0b'])('rejects the path %j', async (path, { t }) => {
    const { base } = await start(t);
    const refused = t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '', paths: [path] });
    await expect(refused).rejects.toMatchObject({ code: 'EPATHINVALID', retryable: false });
  });

  test('rejects a parent that is no snapshot of the run', async ({ t }) => {
    const { base } = await start(t);
    const other = await t.workspaces.materialise({ runId: 'run_2', source: { type: 'empty' } });
    for (const parent of [other.id, '0'.repeat(40), 'HEAD', '--help', base.id.slice(0, 10)]) {
      await rejects(t.workspaces.snapshot({ epoch: 1, runId, parent, message: '' }), 'ESNAPSHOTUNKNOWN');
    }
    const missing = t.workspaces.snapshot({ epoch: 1, runId: 'run_3', parent: base.id, message: '' });
    await expect(missing).rejects.toMatchObject({ code: 'EWORKSPACEMISSING' });
    await rejects(t.workspaces.locate({ runId: '../run_1', epoch: 1 }), 'ERUNIDINVALID');
  });

  test('notes skipped paths with their last version, and ignores the message', async () => {
    using t = temporary({ limits: { fileBytes: 1000 } });
    const { base, path } = await start(t);
    writeFileSync(join(path, 'a.txt'), Buffer.alloc(1001));
    execFileSync('mkfifo', [join(path, 'dir/pipe')]);
    const server = createServer().listen(join(path, 'sock'));
    await once(server, 'listening');
    const message = 'mine\n\nHoldpoint-Manifest: {"skipped":[],"empty":[]}';
    const taken = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message });
    server.close();
    expect(taken).toMatchObject({
      files_changed: 0,
      skipped: [
        { path: 'a.txt', reason: 'too_large' },
        { path: 'dir/pipe', reason: 'fifo' },
        { path: 'sock', reason: 'socket' },
      ],
    });
    expect(taken.id).not.toBe(base.id);
    expect(git(t.shadow(runId), 'show', `${taken.id}:a.txt`)).toBe('a');
    const known = await t.workspaces.snapshot({
      epoch: 1,
      runId,
      parent: taken.id,
      message: '',
      paths: ['other/d.txt'],
    });
    expect(known).toEqual({ ...known, id: taken.id, skipped: taken.skipped });
  });

  test.skipIf(process.getuid?.() === 0)('of files and folders that are closed has what is in them', async ({ t }) => {
    const { base, path } = await start(t);
    const before = readTree(path);
    const modes = () => ['a.txt', 'dir', 'other'].map((name) => lstatSync(join(path, name)).mode & 0o777);
    const close = () => execFileSync('sh', ['-c', 'chmod 000 a.txt dir; chmod 444 other; chmod 500 .'], { cwd: path });
    close();
    const same = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    expect(same).toMatchObject({ files_changed: 0, skipped: [] });
    expect(modes()).toEqual([0, 0, 0o444]);
    execFileSync('sh', ['-c', 'chmod 700 . a.txt dir other; echo n > a.txt; echo n > dir/n; echo n > other/d.txt'], {
      cwd: path,
    });
    close();
    const taken = await t.workspaces.snapshot({ epoch: 1, runId, parent: same.id, message: '' });
    expect(taken).toMatchObject({ files_changed: 3, skipped: [] });
    for (const name of ['a.txt', 'dir/n', 'other/d.txt']) {
      expect(git(t.shadow(runId), 'show', `${taken.id}:${name}`)).toBe('n');
    }
    const known = { epoch: 1, runId, parent: taken.id, message: '', paths: ['dir/n', 'a.txt'] };
    expect(await t.workspaces.snapshot(known)).toMatchObject({ files_changed: 0, skipped: [] });
    expect(modes()).toEqual([0, 0, 0o444]);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
    expect(readTree(path)).toEqual(before);
  });

  test('after a failed one has all content', async () => {
    using t = temporary({ limits: { entries: 40 } });
    const { base, path } = await start(t);
    for (let n = 0; n < 60; n++) writeFileSync(join(path, `many-${n}`), `content ${n}`);
    // After a clock tick the failing scan caches the status of the files.
    const { ctimeMs } = lstatSync(join(path, 'many-59'));
    await expect.poll(() => tick(t.path) > ctimeMs).toBe(true);
    const failed = t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    await expect(failed).rejects.toMatchObject({ code: 'ETOOMANYFILES' } satisfies Partial<WorkspaceError>);
    for (let n = 20; n < 60; n++) rmSync(join(path, `many-${n}`));
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '' });
    expect(git(t.shadow(runId), 'fsck', '--strict', '--connectivity-only')).not.toMatch(/missing|broken/);
    expect(git(t.shadow(runId), 'show', `${id}:many-7`)).toBe('content 7');
  });

  test('does not follow planted links', async ({ t }) => {
    const { base, path } = await start(t);
    const outside = join(t.path, 'outside');
    writeTree(outside, { canary: 'secret of the host' });
    symlinkSync(outside, join(path, 'way'));
    symlinkSync(join(outside, 'canary'), join(path, 'file'));
    const paths = ['way/canary', 'file'];
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: '', paths });
    const rows = git(t.shadow(runId), 'ls-tree', '-r', id).split('\n');
    expect(rows.filter((row) => /\t(way|file)$/.test(row)).map((row) => row.slice(0, 6))).toEqual(['120000', '120000']);
    expect(holds(t.shadow(runId), 'secret of the host')).toBe(false);
  });

  test('detects a moved folder with a link at its old path', async ({ t }) => {
    const { base, path } = await start(t);
    writeTree(path, { 'deep/er/file': 'x', 'deep/empty': null });
    const { id: parent } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' });
    // After a clock tick the status of every file and folder is cached.
    const { ctimeMs } = lstatSync(join(path, 'deep/er/file'));
    await expect.poll(() => tick(t.path) > ctimeMs).toBe(true);
    const same = await t.workspaces.snapshot({ epoch: 1, runId, parent, message: 'x' });
    expect(same.id).toBe(parent);
    for (const [folder, to] of [
      ['dir', 'moved'],
      ['deep/er', 'deep/moved'],
      ['deep/empty', 'elsewhere'],
    ] as const) {
      renameSync(join(path, folder), join(path, to));
      symlinkSync(join(path, to), join(path, folder));
    }
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent, message: 'y' });
    const rows = git(t.shadow(runId), 'ls-tree', '-r', '-t', id).split('\n');
    const links = rows.filter((row) => row.startsWith('120000')).map((row) => row.split('\t')[1]);
    expect(links).toEqual(['deep/empty', 'deep/er', 'dir', 'link']);
    expect(rows.filter((row) => /\t(dir|deep\/er)\//.test(row))).toEqual([]);
    expect(await t.reopen().snapshot({ epoch: 1, runId, parent, message: 'y' })).toMatchObject({ id });
  });

  test('detects added and removed names in known folders', async ({ t }) => {
    const { base, path } = await start(t);
    let parent = base.id;
    for (let round = 0; round < 20; round++) {
      if (round % 4 < 2) writeFileSync(join(path, `dir/new-${round % 4}`), 'x');
      else rmSync(join(path, `dir/new-${(round % 4) - 2}`));
      const next = await t.workspaces.snapshot({ epoch: 1, runId, parent, message: `${round}` });
      expect(next.files_changed).toBe(1);
      if (round % 3 === 0)
        expect((await t.workspaces.snapshot({ epoch: 1, runId, parent: next.id, message: '' })).id).toBe(next.id);
      parent = next.id;
    }
  });

  test.runIf(process.platform === 'linux')(
    'does not leave the tree while folders are swapped for links',
    async ({ t }) => {
      const { base, path } = await start(t);
      const outside = join(t.path, 'outside');
      writeTree(outside, { canary: 'secret of the host', more: 'x' });
      writeTree(path, { 'swap/canary': 'harmless' });
      symlinkSync(outside, join(path, 'other-way'));
      const loop = `const {renameSync:r}=require('fs');process.chdir(process.argv[1]);console.log('on');
      for(;;){r('swap','tmp');r('other-way','swap');r('swap','other-way');r('tmp','swap')}`;
      const swapper = spawn(process.execPath, ['-e', loop, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(swapper.stdout, 'data');
      const outcomes = { taken: 0, busy: 0 };
      try {
        for (let round = 0; round < 80; round++) {
          const paths = round % 2 === 0 ? ['swap/canary'] : undefined;
          await t.workspaces
            .snapshot({ epoch: 1, runId, parent: base.id, message: `${round}`, ...(paths && { paths }) })
            .then(
              () => outcomes.taken++,
              (error: WorkspaceError) => {
                expect(error.code).toBe('EWORKSPACEBUSY');
                outcomes.busy++;
              },
            );
        }
      } finally {
        swapper.kill('SIGKILL');
        await once(swapper, 'exit');
      }
      expect(outcomes.taken + outcomes.busy).toBe(80);
      expect(outcomes.taken).toBeGreaterThan(0);
      expect(holds(t.shadow(runId), 'secret of the host')).toBe(false);
      // One more snapshot, so that the tree must be readable again.
      await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'after' });
    },
  );
});

async function start(t: ReturnType<typeof temporary>) {
  const source = t.source({
    'a.txt': 'a\n',
    'dir/b.txt': 'b\n',
    'dir/c.txt': 'c\n',
    'other/d.txt': 'd\n',
    link: { link: 'a.txt' },
  });
  const base = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  const { path, owner: given } = await t.workspaces.locate({ runId: runId, epoch: 1 });
  expect(given).toEqual(owner);
  expect(readTree(path)).toEqual(readTree(source));
  return { base, path, source };
}

function holds(gitDir: string, content: string): boolean {
  const oid = objectId('blob', Buffer.from(content));
  return gitBytes(gitDir, ['cat-file', '--batch-check'], `${oid}\n`).toString().includes(' blob ');
}

/** The file system's own time, ms. */
function tick(folder: string): number {
  const file = join(folder, 'tick');
  writeFileSync(file, readFileSync('/dev/null'));
  rmSync(file);
  writeFileSync(file, '');
  return lstatSync(file).ctimeMs;
}
