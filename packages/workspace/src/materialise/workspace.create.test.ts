import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { readTree, stamps, writeTree } from '../testing/file-tree.ts';
import { rejects, test } from '../testing/fixture.ts';
import { isLayered, owner, runId, runUntilKilled, stride, temporary, tried } from '../testing/index.ts';
import { git, gitBytes, initRepository } from '../testing/real-git.ts';

const isRoot = process.getuid?.() === 0;
const files = {
  'a.txt': 'a\n',
  'crlf.txt': 'a\r\n',
  'dir/run.sh': { executable: 'x' },
  link: { link: '../../etc/passwd' },
  ünï: 'u',
} as const;

describe('materialise from a directory', () => {
  test('copies files, links, modes and times without touching the source', async ({ t }) => {
    const source = t.source({ ...files, 'empty/folder': null, 'sub/.git/config': 'x', '.git/config': 'x' });
    chmodSync(join(source, 'a.txt'), 0o4640);
    const before = stamps(source);
    const { base: made, path } = await t.begin(source);
    expect(made).toMatchObject({ parent: null, files_changed: 5, skipped: [], owner, files: 4, base_commit: null });
    expect(stamps(source)).toBe(before);
    expect(readTree(path)).toEqual(readTree(source, { ignore: ['.git'] }));
    expect(lstatSync(join(path, 'a.txt')).mode & 0o7777).toBe(0o640);
    expect(lstatSync(join(path, 'a.txt')).mtimeMs).toBeCloseTo(lstatSync(join(source, 'a.txt')).mtimeMs, 0);
    expect(existsSync(join(path, 'sub/.git'))).toBe(false);
  });

  test('makes a private tree that belongs to the run', async ({ t }) => {
    const source = t.source(files);
    await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
    const path = await t.tree();
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
    const owners = new Set(execFileSync('find', [path, '-printf', '%U:%G\n']).toString().trim().split('\n'));
    expect([...owners]).toEqual([`${owner.uid}:${owner.gid}`]);
  });

  test('leaves out special files and the data directory', async ({ t }) => {
    writeTree(t.path, files);
    execFileSync('mkfifo', [join(t.path, 'dir/pipe')]);
    symlinkSync('.', join(t.path, 'loop'));
    const { base: made, path } = await t.begin({ type: 'directory', path: t.path });
    expect(made.skipped).toEqual([{ path: 'dir/pipe', reason: 'fifo' }]);
    const walked = await t.snapshot(made.id);
    expect(walked).toMatchObject({ id: made.id, skipped: made.skipped });
    const known = await t.workspaces.snapshot({ epoch: 1, runId, parent: made.id, message: '', paths: ['dir'] });
    expect(known).toMatchObject({ id: made.id, skipped: made.skipped });
    expect(Object.keys(readTree(path)).sort()).toEqual([...Object.keys(files), 'dir', 'loop'].map(bytes).sort());
  });

  test('the first snapshot equals the tree that git makes of the same files', async () => {
    using t = temporary({ limits: { fileBytes: 6_000_000 } });
    const source = join(t.path, 'source');
    const noise = (bytes: number, seed: number) =>
      createHash('shake256', { outputLength: bytes }).update(`${seed}`).digest();
    const many = Array.from({ length: 600 }, (_, n) => [`d${n % 20}/f${n}`, noise(n * 17, n % 500)] as const);
    const odd = { empty: '', '4 MiB': noise(4 * 1024 ** 2, 1), 'under it': noise(4 * 1024 ** 2 - 1, 2) };
    writeTree(source, { ...Object.fromEntries(many), ...odd, ...files });
    writeFileSync(Buffer.from(`${source}/caf\xe9`, 'latin1'), 'not UTF-8');
    initRepository(source);
    writeFileSync(join(source, 'too large'), noise(6_000_001, 3));
    const made = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
    const shadow = t.shadow(runId);
    expect(git(shadow, 'rev-parse', `${made.id}^{tree}`)).toBe(git(source, 'rev-parse', 'HEAD^{tree}'));
    expect(git(shadow, 'fsck', '--full', '--strict')).toBe('');
    expect(made.skipped).toEqual([{ path: 'too large', reason: 'too_large' }]);
    const path = await t.tree();
    expect(readTree(path)).toEqual(readTree(source, { ignore: ['.git'] }));
    // The stat cache filled by the copy does not hide later changes.
    writeFileSync(join(path, 'd1/f1'), noise(17, 9));
    const next = await t.snapshot(made.id);
    expect(next.files_changed).toBe(1);
  });

  test('a file too large for a snapshot is in the tree but not in the repository', async () => {
    using t = temporary({ limits: { fileBytes: 1000 } });
    const source = t.source({ small: 'x', large: 'x'.repeat(1001) });
    const made = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
    expect(made).toMatchObject({ files: 2, bytes: 1002, files_changed: 1, skipped: [{ path: 'large' }] });
    const objects = git(
      t.shadow(runId),
      'cat-file',
      '--batch-all-objects',
      '--batch-check=%(objecttype) %(objectsize)',
    );
    // The other blobs are files of the workspace's own repository.
    const blobs = objects.split('\n').filter((line) => line.startsWith('blob'));
    expect(blobs).toContain('blob 1');
    expect(blobs).not.toContain('blob 1001');
  });

  test('a repeated call answers the same without a second copy, also after a restart', async ({ t }) => {
    const source = t.source(files);
    const first = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
    writeFileSync(join(source, 'later'), 'x');
    expect(await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } })).toEqual(first);
    expect(await t.reopen().materialise({ runId, source: { type: 'directory', path: source } })).toEqual(first);
    expect(existsSync(join(await t.tree(), 'later'))).toBe(false);
  });

  test('stops on abort, and can be repeated', async ({ t }) => {
    const source = t.source(files);
    const controller = new AbortController();
    const slow = t.reopen({
      onPoint: (point) => point === 'materialise.filled' && controller.abort(new Error('stop')),
    });
    const input = { runId, source: { type: 'directory', path: source } } as const;
    await expect(slow.materialise({ ...input, signal: controller.signal })).rejects.toThrow('stop');
    await rejects(t.workspaces.locate({ runId: runId, epoch: 1 }), 'EWORKSPACEMISSING');
    expect(existsSync(join(t.dataDir, 'runs', runId))).toBe(false);
    expect(await t.workspaces.materialise(input)).toMatchObject({ files_changed: 5 });
  });
});

describe('materialise from git', () => {
  test('pins the commit and checks it out without filters', async ({ t }) => {
    const source = t.source({ ...files, '.gitattributes': '*.txt text eol=crlf filter=evil\n' });
    const commit = initRepository(source);
    git(source, 'tag', '-a', 'v1', '-m', 'tag');
    writeFileSync(join(source, 'a.txt'), 'uncommitted');
    git(source, 'commit', '-q', '--allow-empty', '-m', 'later');
    const before = stamps(source);
    const { base: made, path } = await t.begin({ type: 'git', path: source, ref: 'v1' });
    expect(made).toMatchObject({ base_commit: commit, parent: null, files_changed: 6 });
    expect(stamps(source)).toBe(before);
    expect(readTree(path)).toMatchObject({
      'a.txt': 'file a\n',
      'dir/run.sh': 'script x',
      link: 'link ../../etc/passwd',
    });
    expect(git(path, 'status', '--porcelain', '--ignored')).toBe('');
    const look = ['log', '--format=%an %ae %at %cn %ce %ct %B'];
    expect(git(path, ...look)).toBe(git(source, ...look, '-1', commit));
    const tree = git(source, 'rev-parse', 'v1^{tree}');
    expect(git(t.shadow(runId), 'rev-parse', `${made.id}^{tree}`)).toBe(tree);
    const walked = await t.reopen().snapshot({ epoch: 1, runId, parent: made.id, message: 'walk' });
    expect(walked.id).toBe(made.id);
  });

  test('takes bare repositories, linked work trees and old commits', async ({ t }) => {
    const source = t.source(files);
    const first = initRepository(source);
    git(source, 'commit', '-q', '--allow-empty', '-m', 'second');
    git(t.path, 'clone', '-q', '--bare', source, 'bare.git');
    git(source, 'worktree', 'add', '-q', '-b', 'side', join(t.path, 'linked'));
    for (const [index, path] of [join(t.path, 'bare.git'), join(t.path, 'linked')].entries()) {
      const id = `run_${index}`;
      const made = await t.workspaces.materialise({ runId: id, source: { type: 'git', path, ref: first } });
      expect(made.base_commit).toBe(first);
      expect(readTree(await t.tree(id))).toEqual(readTree(source, { ignore: ['.git'] }));
    }
  });

  test('makes a submodule an empty folder', async ({ t }) => {
    const source = join(t.path, 'source');
    const module = join(t.path, 'module');
    writeTree(source, files);
    writeTree(module, { m: 'm' });
    initRepository(module);
    initRepository(source);
    git(source, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'libs/module');
    git(source, 'commit', '-q', '-m', 'module');
    const { base: made, path } = await t.begin({ type: 'git', path: source });
    expect(readTree(join(path, 'libs'))).toEqual({ module: 'folder' });
    expect(git(t.shadow(runId), 'ls-tree', '-r', made.id)).not.toContain('commit');
    await t.workspaces.restore({ epoch: 1, runId, snapshot: made.id });
    expect(readTree(join(path, 'libs'))).toEqual({ module: 'folder' });
  });

  test('stays inside the tree with hostile names in a commit', async ({ t }) => {
    const source = t.source(files, 'git');
    const blob = write(source, 'blob', Buffer.from('evil'));
    const inner = write(source, 'tree', row('100644', 'evil', blob));
    const link = write(source, 'blob', Buffer.from(t.path));
    const tree = write(
      source,
      'tree',
      row('40000', '..', inner),
      row('40000', '.GIT', inner),
      row('100644', '../../evil', blob),
      row('120000', 'both', link),
      row('40000', 'both', inner),
      row('100664', 'good', blob),
    );
    const commit = git(source, 'commit-tree', '-m', 'evil', tree);
    const made = await t.workspaces.materialise({ runId, source: { type: 'git', path: source, ref: commit } });
    const found = Object.keys(readTree(t.dataDir)).filter((path) => path.endsWith('evil') || path.endsWith('.GIT'));
    const inLayer = found.filter((path) => /^layers\/[0-9a-f]{32}\/[0-9a-f]{64}\/files\/both\/evil$/.test(path));
    expect(inLayer).toHaveLength(isLayered(t) ? 1 : 0);
    expect(found.filter((path) => !inLayer.includes(path))).toEqual([`runs/${runId}/trees/1/both/evil`]);
    expect(existsSync(join(t.path, 'evil'))).toBe(false);
    expect(git(t.shadow(runId), 'ls-tree', '-r', made.id).split('\n')).toEqual([
      `100644 blob ${blob}\tboth/evil`,
      `100644 blob ${blob}\tgood`,
    ]);
  });

  test.runIf(isRoot)('reads a repository of another user', async ({ t }) => {
    const source = t.source(files);
    const commit = initRepository(source);
    execFileSync('chown', ['-R', '20002:20002', source]);
    const made = await t.workspaces.materialise({ runId, source: { type: 'git', path: source } });
    expect(made.base_commit).toBe(commit);
  });
});

describe('a source that cannot be used', () => {
  test.for<[string, (t: { path: string; dataDir: string }) => Source]>([
    ['ESOURCEMISSING', (t) => ({ type: 'directory', path: join(t.path, 'nowhere') })],
    ['ESOURCEMISSING', (t) => ({ type: 'git', path: join(t.path, 'file/below') })],
    ['ESOURCENOTDIRECTORY', (t) => ({ type: 'directory', path: join(t.path, 'file') })],
    ['ESOURCENOTDIRECTORY', () => ({ type: 'directory', path: 'relative' })],
    ['ESOURCENOTGIT', (t) => ({ type: 'git', path: join(t.path, 'plain') })],
    ['ESOURCENOTGIT', (t) => ({ type: 'git', path: join(t.path, 'repository/dir') })],
    ['ESOURCEFORMAT', (t) => ({ type: 'git', path: join(t.path, 'sha256') })],
    ['EREFUNKNOWN', (t) => ({ type: 'git', path: join(t.path, 'repository'), ref: 'nope' })],
    ['EREFUNKNOWN', (t) => ({ type: 'git', path: join(t.path, 'repository'), ref: '--help' })],
    ['EREFUNKNOWN', (t) => ({ type: 'git', path: join(t.path, 'repository'), ref: 'HEAD:a.txt' })],
    ['EREFUNKNOWN', (t) => ({ type: 'git', path: join(t.path, 'unborn') })],
    ['ESOURCEINDATADIR', (t) => ({ type: 'directory', path: join(t.dataDir, 'runs') })],
    ['ESOURCEINDATADIR', (t) => ({ type: 'directory', path: join(t.path, 'way/runs') })],
    ['ESOURCEINDATADIR', (t) => ({ type: 'directory', path: t.dataDir })],
  ])('is rejected with %s', async ([code, source], { t }) => {
    writeTree(t.path, { file: 'x', 'plain/x': 'x', way: { link: t.dataDir } });
    writeTree(join(t.path, 'repository'), { ...files, 'dir/x': 'x' });
    initRepository(join(t.path, 'repository'));
    git(t.path, 'init', '-q', 'unborn');
    git(t.path, 'init', '-q', '--object-format=sha256', 'sha256');
    const before = Object.keys(readTree(t.dataDir));
    await expect(t.workspaces.check(source(t))).rejects.toMatchObject({ code, retryable: false });
    await expect(t.workspaces.materialise({ runId, source: source(t) })).rejects.toMatchObject({ code });
    expect(Object.keys(readTree(t.dataDir))).toEqual(before);
  });

  test('is not a readable one, which check accepts without a trace', async ({ t }) => {
    const source = t.source(files, 'git');
    const before = [stamps(source), Object.keys(readTree(t.dataDir))];
    for (const type of ['git', 'directory'] as const) await t.workspaces.check({ type, path: source });
    await t.workspaces.check({ type: 'empty' });
    expect([stamps(source), Object.keys(readTree(t.dataDir))]).toEqual(before);
  });

  test('without git is rejected with EGITMISSING', async () => {
    using t = temporary({ gitPath: '/nowhere/git' });
    mkdirSync(join(t.path, 'x'));
    initRepository(join(t.path, 'x'));
    await rejects(t.workspaces.check({ type: 'git', path: join(t.path, 'x') }), 'EGITMISSING');
  });
});

describe('a killed materialise', () => {
  test.for(['git', 'directory', 'archive'] as const)('is completed by the next call (%s)', async (type, { t }) => {
    const folder = t.source({ 'a.txt': 'a\n', 'dir/run.sh': { executable: 'x' }, link: { link: 'a.txt' } });
    const archive = join(t.path, 'source.tar.gz');
    execFileSync('tar', ['-C', folder, '-czf', archive, '.']);
    if (type === 'git') initRepository(folder);
    const wanted = { type, path: type === 'archive' ? archive : folder } as const;
    const whole = await t.workspaces.materialise({ runId: 'run_whole', source: wanted });
    const before = stamps(folder);
    let killed = 0;
    for (let dieAt = 1; ; dieAt += stride) {
      const id = `run_${dieAt}`;
      const act = { verb: 'materialise', source: wanted };
      if (!runUntilKilled({ dataDir: t.dataDir, runId: id, dieAt, act })) break;
      killed += 1;
      expect(await t.workspaces.materialise({ runId: id, source: wanted })).toEqual(whole);
      expect(readTree(await t.tree(id))).toEqual(readTree(folder, { ignore: ['.git'] }));
    }
    // Three entries, and the steps before and after.
    expect(killed).toBeGreaterThanOrEqual(tried(8));
    expect(stamps(folder)).toBe(before);
  });
});

describe('discard', () => {
  test('removes everything, also closed folders, twice, and after a crash', async ({ t }) => {
    const { id, path } = await t.begin({ type: 'empty' });
    const outside = join(t.path, 'outside');
    writeTree(outside, { canary: 'x' });
    writeTree(path, { 'locked/in/here': 'x', way: { link: outside } });
    chmodSync(join(path, 'locked/in'), 0o000);
    chmodSync(join(path, 'locked'), 0o000);
    expect(runUntilKilled({ dataDir: t.dataDir, runId, dieAt: 1, act: { verb: 'discard' } })).toBe(true);
    await rejects(t.workspaces.locate({ runId: runId, epoch: 1 }), 'EWORKSPACEMISSING');
    await t.workspaces.discard(runId);
    await t.workspaces.discard(runId);
    await t.workspaces.discard('run_never');
    expect(Object.keys(readTree(join(t.dataDir, 'discarding')))).toEqual([]);
    expect(Object.keys(readTree(join(t.dataDir, 'runs')))).toEqual([]);
    expect(readTree(outside)).toEqual({ canary: 'file x' });
    await rejects(t.snapshot(id), 'EWORKSPACEMISSING');
    const again = await t.workspaces.materialise({ runId, source: { type: 'empty' } });
    expect((await t.snapshot(again.id)).id).toBe(again.id);
  });
});

/** Writes an object without git's checks. */
function write(repository: string, type: string, ...parts: Buffer[]): string {
  const args = ['hash-object', '--literally', '-w', '-t', type, '--stdin'];
  return gitBytes(repository, args, Buffer.concat(parts)).toString().trim();
}

function row(mode: string, name: string, oid: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
}

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
