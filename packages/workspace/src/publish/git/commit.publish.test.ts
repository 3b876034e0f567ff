import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeTree } from '../../testing/file-tree.ts';
import { rejects, test } from '../../testing/fixture.ts';
import { publishNow, runId, runUntilKilled, temporary } from '../../testing/index.ts';
import { git, initRepository } from '../../testing/real-git.ts';

const branch = `refs/heads/holdpoint/${runId}`;
const isRoot = process.getuid?.() === 0;

async function start(t: ReturnType<typeof temporary>, prepare: (source: string) => void = () => {}) {
  const source = t.source({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/c.txt': 'c\n', 'run.sh': { executable: 'x' } });
  const commit = initRepository(source);
  prepare(source);
  const { base, path } = await t.begin({ type: 'git', path: source });
  writeTree(path, { 'a.txt': 'A\n', 'new/file': 'new\n' });
  rmSync(join(path, 'dir/c.txt'));
  const final = await t.snapshot(base.id);
  return { source, commit, base, final, path };
}

describe('publish to git', () => {
  test('makes a branch with one commit on the pinned base and touches nothing else', async ({ t }) => {
    const { source, commit, final } = await start(t, (path) => {
      writeFileSync(join(path, 'a.txt'), 'staged\n');
      git(path, 'add', 'a.txt');
      writeFileSync(join(path, 'a.txt'), 'not staged\n');
      writeFileSync(join(path, 'untracked'), 'x');
    });
    const before = user(source);
    const result = await t.publish({ snapshot: final.id, message: 'What was done\n\nAnd why.' });
    if (result.status !== 'published' || result.published.type !== 'git') throw new Error(JSON.stringify(result));
    const made = git(source, 'rev-parse', branch);
    expect(result.published).toEqual({ type: 'git', path: source, branch, commit: made, left_out: [] });
    expect(user(source)).toEqual(before);
    expect(git(source, 'rev-parse', `${branch}^@`)).toBe(commit);
    expect(git(source, 'rev-parse', `${branch}^{tree}`)).toBe(git(t.shadow(runId), 'rev-parse', `${final.id}^{tree}`));
    expect(git(source, 'diff', '--name-status', commit, branch).split('\n')).toEqual([
      'M\ta.txt',
      'D\tdir/c.txt',
      'A\tnew/file',
    ]);
    expect(git(source, 'show', '-s', '--format=%an <%ae>|%cn|%B', branch)).toBe(
      'Holdpoint <holdpoint@localhost>|Holdpoint|What was done\n\nAnd why.',
    );
    expect(git(source, 'fsck', '--strict', '--connectivity-only')).not.toMatch(/missing|error/);
    expect(existsSync(join(source, '.git/shallow'))).toBe(false);
    expect(git(source, 'reflog', 'show', branch)).toContain('holdpoint');
    expect(await publishNow(t.reopen(), { runId, snapshot: final.id, message: 'What was done\n\nAnd why.' })).toEqual(
      result,
    );
  });

  test('works from the middle of a history and after new commits in the source', async ({ t }) => {
    const { source, commit, final } = await start(t, (path) => {
      git(path, 'commit', '-q', '--allow-empty', '-m', 'two');
    });
    writeFileSync(join(source, 'a.txt'), 'later\n');
    git(source, 'commit', '-q', '-am', 'three');
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    expect(git(source, 'rev-parse', `${branch}~2`)).toBe(commit);
    expect(git(source, 'merge-base', 'HEAD', branch)).toBe(git(source, 'rev-parse', 'HEAD~1'));
  });

  test('works when no branch contains the base; is a conflict when it is pruned', async ({ t }) => {
    const { source, final } = await start(t, (path) =>
      git(path, 'commit', '-q', '--allow-empty', '-m', 'amended later'),
    );
    git(source, 'reset', '-q', '--soft', 'HEAD~1');
    git(source, 'reflog', 'expire', '--expire=now', '--all');
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    git(source, 'update-ref', '-d', branch);
    rmSync(join(source, '.git/logs'), { recursive: true });
    git(source, '-c', 'gc.pruneExpire=now', 'prune', '--expire=now');
    git(source, 'repack', '-q', '-a', '-d');
    const gone = await t.publish({ snapshot: final.id });
    expect(gone).toMatchObject({ status: 'conflict', conflicts: [{ reason: 'source_missing' }] });
    rmSync(source, { recursive: true });
    expect(await t.publish({ snapshot: final.id })).toMatchObject({
      status: 'conflict',
      conflicts: [{ reason: 'source_missing' }],
    });
  });

  test('never moves an existing branch', async ({ t }) => {
    const { source, commit, final } = await start(t);
    git(source, 'update-ref', branch, commit);
    const taken = await t.publish({ snapshot: final.id });
    expect(taken).toMatchObject({ status: 'conflict', conflicts: [{ path: branch, reason: 'branch_exists' }] });
    expect(git(source, 'rev-parse', branch)).toBe(commit);
    git(source, 'update-ref', '-d', branch);
    git(source, 'branch', 'holdpoint');
    const blocked = await t.publish({ snapshot: final.id });
    expect(blocked).toMatchObject({ status: 'conflict', conflicts: [{ reason: 'branch_exists' }] });
  });

  test('reports moved when it loses the race for the branch', async ({ t }) => {
    const { source, commit, final } = await start(t);
    const raced = t.reopen({
      onPoint: (point) => {
        if (point === 'publish-git.ref') git(source, 'update-ref', branch, commit);
      },
    });
    const result = await publishNow(raced, { runId, snapshot: final.id });
    expect(result).toEqual({ status: 'moved' });
    expect(git(source, 'rev-parse', branch)).toBe(commit);
    expect(ownRefs(source)).toBe('');
  });

  test('killed at any point is finished by the next call', async ({ t }) => {
    const { source, final } = await start(t);
    const before = user(source);
    const act = { verb: 'publish', snapshot: final.id };
    let killed = 0;
    let commit: string | undefined;
    for (let dieAt = 1; ; dieAt++) {
      if (!runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act })) break;
      killed += 1;
      // Sometimes it is killed a second time during recovery.
      if (dieAt % 2 === 0) runUntilKilled({ dataDir: t.dataDir, runId, dieAt: dieAt === 4 ? 5 : 2, act });
      const result = await t.publish({ snapshot: final.id, message: 'publish' });
      if (result.status !== 'published' || result.published.type !== 'git') throw new Error(JSON.stringify(result));
      commit ??= result.published.commit;
      expect(result.published.commit).toBe(commit);
      expect(user(source)).toEqual(before);
      expect(ownRefs(source)).toBe('');
      git(source, 'update-ref', '-d', branch);
    }
    expect(killed).toBe(7);
  });

  test('leaves no private ref, with loose or packed refs', async ({ t }) => {
    const { source, path, final } = await start(t);
    const packing = t.reopen({
      onPoint: (point) => {
        if (point === 'publish-git.ref') git(source, 'pack-refs', '--all');
      },
    });
    expect(await publishNow(packing, { runId, snapshot: final.id })).toMatchObject({ status: 'published' });
    expect(ownRefs(source)).toBe('');
    writeFileSync(join(path, 'more'), 'more');
    const more = await t.snapshot(final.id);
    expect(await t.publish({ snapshot: more.id })).toMatchObject({ status: 'published' });
    expect(ownRefs(source)).toBe('');
  });

  test.for<[string, (source: string) => void]>([
    ['removed', (source) => git(source, 'update-ref', '-d', ownRefs(source))],
    ['packed and locked', (source) => lockPackedRefs(source)],
  ])('a private ref that is %s keeps no branch from moving', async ([, act], { t }) => {
    const { source, final } = await start(t);
    const disturbed = t.reopen({ onPoint: (point) => point === 'publish-git.intent' && act(source) });
    expect(await publishNow(disturbed, { runId, snapshot: final.id })).toMatchObject({ status: 'published' });
    expect(git(source, 'log', '-1', '--format=%s', branch)).not.toBe('base');
    rmSync(join(source, '.git/packed-refs.lock'), { force: true });
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    expect(ownRefs(source)).toBe('');
  });

  test('killed at any point leaves no private ref after the run is discarded', async () => {
    for (let dieAt = 1; ; dieAt++) {
      using t = temporary();
      const { source, final } = await start(t);
      git(source, 'update-ref', 'refs/holdpoint/run_other/out', 'HEAD');
      const isKilled = runUntilKilled({
        dataDir: t.dataDir,
        runId,
        dieAt,
        act: { verb: 'publish', snapshot: final.id },
      });
      await t.workspaces.discard(runId);
      expect(ownRefs(source)).toBe('refs/holdpoint/run_other/out');
      if (!isKilled) break;
    }
  });

  test('a run can be discarded after its source is gone', async ({ t }) => {
    const { source, final } = await start(t);
    await t.publish({ snapshot: final.id });
    rmSync(source, { recursive: true });
    await t.workspaces.discard(runId);
    await rejects(t.workspaces.locate({ runId, epoch: 1 }), 'EWORKSPACEMISSING');
  });

  test('keeps submodules and too large files', async () => {
    using t = temporary({ limits: { fileBytes: 1000 } });
    const { source, final, path, commit } = await start(t, (repository) => {
      const module = join(t.path, 'module');
      writeTree(module, { m: 'm' });
      initRepository(module);
      git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'dir/module');
      writeFileSync(join(repository, 'large'), Buffer.alloc(2000));
      git(repository, 'add', '-A');
      git(repository, 'commit', '-q', '-m', 'module');
    });
    expect(final.skipped).toEqual([{ path: 'large', reason: 'too_large' }]);
    writeFileSync(join(path, 'large'), 'small now');
    const small = await t.snapshot(final.id);
    writeFileSync(join(path, 'large'), Buffer.alloc(3000));
    const again = await t.snapshot(small.id);
    expect(await t.publish({ snapshot: again.id })).toMatchObject({ status: 'published' });
    expect(git(source, 'diff', '--name-only', `${branch}~1`, branch).split('\n')).toEqual([
      'a.txt',
      'dir/c.txt',
      'new/file',
    ]);
    expect(git(source, 'rev-parse', `${branch}~2`)).toBe(commit);
  });

  test('names files in the folder of a submodule, which it leaves out', async ({ t }) => {
    const { source, final, path } = await start(t, (repository) => {
      const module = join(t.path, 'module');
      writeTree(module, { m: 'm' });
      initRepository(module);
      git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'dir/module');
      git(repository, 'commit', '-q', '-m', 'module');
    });
    writeTree(path, { 'dir/module/made': 'by a step\n', 'dir/modules': 'beside it\n' });
    const next = await t.snapshot(final.id);
    const shown = await t.workspaces.diff({ runId, from: final.id, to: next.id });
    expect(shown.files.map((file) => file.path)).toEqual(['dir/modules']);
    expect(shown.left_out).toMatchObject([{ path: 'dir/module/made', reason: 'submodule', files: 1 }]);
    const published = await t.publish({ snapshot: next.id });
    expect(published).toMatchObject({ status: 'published', published: { left_out: [{ reason: 'submodule' }] } });
    expect(git(source, 'ls-tree', branch, 'dir/module')).toMatch(/^160000 commit/);
    expect(git(source, 'show', `${branch}:dir/modules`)).toBe('beside it');
  });

  test('into a broken repository fails and leaves no process behind', async ({ t }) => {
    const { source, final, path } = await start(t);
    rmSync(join(source, '.git/objects/pack'), { recursive: true, force: true });
    writeFileSync(join(source, '.git/objects/pack'), 'no folder');
    writeFileSync(join(path, 'noise'), randomBytes(2_000_000));
    const noisy = await t.snapshot(final.id);
    const running = () => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap');
    // The git that answers reviews stays for two seconds after the diff of an earlier test.
    await expect.poll(running, { timeout: 10_000 }).toEqual([]);
    await rejects(t.publish({ snapshot: noisy.id }), 'EGITFAILED', { retryable: true });
    await expect.poll(running).toEqual([]);
    expect(git(source, 'for-each-ref', 'refs/heads/holdpoint')).toBe('');
  });

  test.runIf(isRoot)('writes as the owner of the repository, also below a closed folder', async ({ t }) => {
    const { source, final } = await start(t, (path) => execFileSync('chown', ['-R', '20002:20003', path]));
    expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
    const others = execFileSync('find', [source, '-not', '-user', '20002', '-o', '-not', '-group', '20003']);
    expect(others.toString()).toBe('');
  });
});

test('an empty workspace cannot be published', async ({ t }) => {
  const { id } = await t.workspaces.materialise({ runId, source: { type: 'empty' } });
  const refused = t.publish({ snapshot: id });
  await expect(refused).rejects.toMatchObject({
    code: 'ENOTPUBLISHABLE',
    next: 'Download the patch, or the files as an archive.',
  });
});

/** Names of the private refs. */
function lockPackedRefs(source: string): void {
  git(source, 'pack-refs', '--all');
  writeFileSync(join(source, '.git/packed-refs.lock'), '');
}

const ownRefs = (source: string): string => git(source, 'for-each-ref', '--format=%(refname)', 'refs/holdpoint');

/** The user's HEAD, index, work tree, branches and configuration. */
function user(source: string): unknown {
  return {
    head: readFileSync(join(source, '.git/HEAD'), 'utf8'),
    index: readFileSync(join(source, '.git/index')).toString('hex'),
    config: readFileSync(join(source, '.git/config'), 'utf8'),
    main: git(source, 'rev-parse', 'main'),
    files: execFileSync('find', [
      ...[source, '-path', join(source, '.git'), '-prune', '-o', '-printf', '%p %s %m %T@ %C@\n'],
    ]).toString(),
  };
}
