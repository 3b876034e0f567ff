import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublishPlan, Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import type { PublishRequest } from '../../port/workspaces.ts';
import { readTree, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import { runId, runUntilKilled, stride, type Temporary, tried } from '../../testing/index.ts';
import { git, gitBytes, initRepository } from '../../testing/real-git.ts';

const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
const edited = (at: number, text: string) => lines.map((line, index) => (index === at ? text : line)).join('');

/** A run on a bare repository: a.txt's first line changed, new/file made, gone.txt deleted. */
async function start(t: Temporary, id = runId) {
  const source = join(t.path, 'source.git');
  if (!existsSync(source)) {
    const work = join(t.path, 'work');
    mkdirSync(work);
    writeTree(work, {
      'a.txt': lines.join(''),
      'b.txt': 'b\n',
      'gone.txt': 'bye\n',
      'bin.dat': new Uint8Array([0, 1, 2]),
    });
    initRepository(work);
    git(t.path, 'clone', '-q', '--bare', work, source);
  }
  const base = await t.workspaces.materialise({ runId: id, source: { type: 'git', path: source, ref: 'main' } });
  const path = await t.tree(id);
  writeTree(path, { 'a.txt': edited(0, `changed by ${id}\n`), [`new/${id}`]: 'new\n' });
  rmSync(join(path, 'gone.txt'), { force: true });
  const final = await t.snapshot(base.id, id);
  return { source, base, final, path };
}

/** A commit of another user on main. */
function moveMain(t: Temporary, source: string, change: (work: string) => void): string {
  const clone = join(t.path, `clone-${Math.random()}`);
  git(t.path, 'clone', '-q', '-b', 'main', source, clone);
  change(clone);
  git(clone, 'add', '-A');
  git(clone, 'commit', '-q', '-m', 'theirs');
  git(clone, 'push', '-q', 'origin', 'main');
  return git(source, 'rev-parse', 'main');
}

const onMain = (snapshot: string, resolutions: Resolution[] = []): PublishRequest => ({
  ...{ runId, snapshot, resolutions },
  target: { branch: 'main', message: 'Fix it', author: { name: 'Author', email: 'author@example.org' } },
});

const targetOf = ({ target }: PublishPlan) => (target.type === 'git' ? target : undefined);

describe('publish to a named branch', () => {
  test('creates a missing branch and fast-forwards an unmoved one', async ({ t }) => {
    const { source, final, base } = await start(t);
    const main = git(source, 'rev-parse', 'main');
    const feature = await t.publish({ snapshot: final.id, branch: 'feature/x' });
    expect(feature).toMatchObject({ status: 'published', published: { branch: 'refs/heads/feature/x' } });
    expect(git(source, 'rev-parse', 'feature/x^')).toBe(main);

    const plan = await t.workspaces.planPublish(onMain(final.id));
    expect(targetOf(plan)).toMatchObject({ from: main, how: 'fast_forward' });
    expect(plan.candidate).toBe(final.id);
    expect(plan.files.map(({ path, status }) => `${status} ${path}`)).toEqual([
      'modified a.txt',
      'deleted gone.txt',
      `added new/${runId}`,
    ]);
    const result = await t.workspaces.publish({ ...onMain(final.id), expect: plan.digest });
    expect(result).toMatchObject({ status: 'published', published: { commit: targetOf(plan)?.commit } });
    expect(git(source, 'show', '-s', '--format=%an <%ae>|%cn|%s|%P', 'main')).toBe(
      `Author <author@example.org>|Holdpoint|Fix it|${main}`,
    );
    expect(base.base).toBe(base.id);
  });

  test('merges into a moved branch, and validators see the changes of both sides', async ({ t }) => {
    const { source, final } = await start(t);
    const tip = moveMain(t, source, (work) => {
      writeTree(work, { 'a.txt': edited(19, 'their last line\n'), 'theirs.txt': 'theirs\n' });
    });
    const plan = await t.workspaces.planPublish(onMain(final.id));
    expect(targetOf(plan)).toMatchObject({ from: tip, how: 'merge' });
    expect(plan.conflicts).toEqual([]);
    expect(plan.candidate).not.toBe(final.id);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: plan.candidate });
    const merged = readTree(await t.tree());
    expect(merged).toMatchObject({ 'theirs.txt': 'file theirs\n', [`new/${runId}`]: 'file new\n' });
    expect(merged['gone.txt']).toBeUndefined();
    await t.workspaces.restore({ epoch: 1, runId, snapshot: final.id });

    expect(await t.workspaces.publish({ ...onMain(final.id), expect: plan.digest })).toMatchObject({
      status: 'published',
    });
    expect(git(source, 'rev-parse', 'main^')).toBe(tip);
    const text = git(source, 'show', 'main:a.txt');
    expect(text).toContain(`changed by ${runId}`);
    expect(text).toContain('their last line');
    expect(git(source, 'diff', '--name-status', tip, 'main').split('\n')).toEqual([
      'M\ta.txt',
      'D\tgone.txt',
      `A\tnew/${runId}`,
    ]);
    expect(git(source, 'fsck', '--strict', '--connectivity-only')).not.toMatch(/missing|error/);
  });

  test('shows three versions of a conflict, and a resolution holds only for these', async ({ t }) => {
    const { source, final } = await start(t);
    const tip = moveMain(t, source, (work) => {
      writeTree(work, { 'a.txt': edited(0, 'changed by them\n'), 'gone.txt': 'kept by them\n' });
    });
    const plan = await t.workspaces.planPublish(onMain(final.id));
    expect(plan.conflicts.map(({ path, reason }) => `${reason} ${path}`)).toEqual(['merge a.txt', 'merge gone.txt']);
    const [first, second] = plan.conflicts;
    expect(first?.versions).toMatchObject({
      base: { text: lines.join('') },
      source: { text: edited(0, 'changed by them\n') },
      run: { text: edited(0, `changed by ${runId}\n`) },
    });
    expect(second?.versions).toMatchObject({ source: { text: 'kept by them\n' }, run: null });
    expect(await t.workspaces.publish({ ...onMain(final.id), expect: plan.digest })).toMatchObject({
      status: 'conflict',
    });
    expect(git(source, 'rev-parse', 'main')).toBe(tip);

    const seen = (index: number) => plan.conflicts[index]?.versions?.source?.oid ?? null;
    const resolutions: Resolution[] = [
      { path: 'a.txt', take: 'text', text: edited(0, 'changed by both\n'), seen: seen(0) },
      { path: 'gone.txt', take: 'source', seen: seen(1) },
    ];
    const stale = [{ ...resolutions[0], seen: 'f'.repeat(40) } as Resolution, resolutions[1] as Resolution];
    expect((await t.workspaces.planPublish(onMain(final.id, stale))).conflicts.map(({ path }) => path)).toEqual([
      'a.txt',
    ]);
    const settled = await t.workspaces.planPublish(onMain(final.id, resolutions));
    expect(settled.conflicts).toEqual([]);
    const result = await t.workspaces.publish({ ...onMain(final.id, resolutions), expect: settled.digest });
    expect(result).toMatchObject({ status: 'published' });
    expect(git(source, 'show', 'main:a.txt')).toBe(edited(0, 'changed by both\n').trim());
    expect(git(source, 'show', 'main:gone.txt')).toBe('kept by them');
    expect(git(source, 'show', `main:new/${runId}`)).toBe('new');
  });

  test('does not move a branch that moved between plan and publish', async ({ t }) => {
    const { source, final } = await start(t);
    const plan = await t.workspaces.planPublish(onMain(final.id));
    const tip = moveMain(t, source, (work) => writeFileSync(join(work, 'theirs.txt'), 'x'));
    expect(await t.workspaces.publish({ ...onMain(final.id), expect: plan.digest })).toEqual({ status: 'moved' });
    const raced = t.reopen({
      onPoint: (point) => {
        if (point === 'publish-git.intent') moveMain(t, source, (work) => writeFileSync(join(work, 'more.txt'), 'x'));
      },
    });
    const again = await raced.planPublish(onMain(final.id));
    expect(await raced.publish({ ...onMain(final.id), expect: again.digest })).toEqual({ status: 'moved' });
    expect(git(source, 'merge-base', tip, 'main')).toBe(tip);
    expect(git(source, 'log', '--format=%s', 'main').split('\n')).toEqual(['theirs', 'theirs', 'base']);
  });

  test('the second of two runs that publish to one branch merges', async ({ t }) => {
    const { source, final } = await start(t);
    const id = 'run_2';
    const second = await t.workspaces.materialise({ runId: id, source: { type: 'git', path: source, ref: 'main' } });
    writeTree(await t.tree(id), { 'b.txt': 'b of the second\n' });
    const other = await t.snapshot(second.id, id);
    const requests = [onMain(final.id), { ...onMain(other.id), runId: id }];
    const plans = await Promise.all(requests.map((request) => t.workspaces.planPublish(request)));
    const results = await Promise.all(
      requests.map((request, index) => t.workspaces.publish({ ...request, expect: plans[index]?.digest ?? '' })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['moved', 'published']);
    for (const request of requests) {
      const { digest } = await t.workspaces.planPublish(request);
      expect(await t.workspaces.publish({ ...request, expect: digest })).toMatchObject({ status: 'published' });
    }
    expect(git(source, 'show', 'main:b.txt')).toBe('b of the second');
    expect(git(source, 'show', 'main:a.txt')).toContain(`changed by ${runId}`);
    expect(git(source, 'rev-list', '--count', 'main')).toBe('3');
  });

  test('knows the branch of a work tree by every form of HEAD that git reads', async ({ t }) => {
    const { source, final } = await start(t);
    const work = join(t.path, 'linked');
    git(source, 'worktree', 'add', '-q', '--detach', work, 'main');
    const head = join(source, 'worktrees/linked/HEAD');
    const forms = [
      'ref: refs/heads/main\n',
      'ref: refs/heads/main',
      'ref:refs/heads/main\n',
      'ref: \trefs/heads/main \n\n',
    ];
    const others = ['ref: refs/heads/other\n', `${git(source, 'rev-parse', 'main')}\n`, 'ref: refs/heads/mainly\n'];
    for (const text of [...forms, ...others]) {
      writeFileSync(head, text);
      const named = git(
        source,
        `--git-dir=${join(source, 'worktrees/linked')}`,
        'rev-parse',
        '--symbolic-full-name',
        'HEAD',
      );
      const { conflicts } = await t.workspaces.planPublish(onMain(final.id));
      const isCheckedOut = conflicts.some(({ reason }) => reason === 'branch_checked_out');
      expect({ text, isCheckedOut }).toEqual({ text, isCheckedOut: named === 'refs/heads/main' });
    }
    rmSync(head);
    symlinkSync('refs/heads/main', head);
    expect(await t.workspaces.planPublish(onMain(final.id))).toMatchObject({
      conflicts: [{ reason: 'branch_checked_out' }],
    });
  });

  test('does not move a branch that a work tree has checked out', async ({ t }) => {
    const source = t.source({ 'a.txt': 'a\n' });
    const main = initRepository(source);
    git(source, 'worktree', 'add', '-q', '-b', 'linked', join(t.path, 'linked'));
    git(source, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    const base = await t.workspaces.materialise({ runId, source: { type: 'git', path: source } });
    writeTree(await t.tree(), { 'a.txt': 'A\n' });
    const final = await t.snapshot(base.id);
    for (const branch of ['main', 'linked', 'alias']) {
      expect(await t.publish({ snapshot: final.id, branch })).toMatchObject({
        conflicts: [{ path: `refs/heads/${branch}`, reason: 'branch_checked_out' }],
      });
      expect(git(source, 'rev-parse', branch)).toBe(main);
    }
    expect(git(source, 'status', '--porcelain')).toBe('');
  });

  test('rejects an invalid branch name', async ({ t }) => {
    const { source, final } = await start(t);
    const before = git(source, 'for-each-ref');
    const names = ['-x', 'a..b', 'a b', '/a', 'a/', 'a.lock', '@{x', 'refs/../../config', 'a\nb', 'a\0b', 'HEAD'];
    for (const branch of [...names, 'refs/heads/-x', '..', 'é'.repeat(126)]) {
      const refused = t.publish({ snapshot: final.id, branch });
      await expect(refused, JSON.stringify(branch)).rejects.toMatchObject({ code: 'EBRANCHINVALID' });
    }
    expect(git(source, 'for-each-ref')).toBe(before);
    const full = await t.publish({ snapshot: final.id, branch: 'refs/heads/x' });
    expect(full).toMatchObject({ status: 'published', published: { branch: 'refs/heads/x' } });
  });

  test('a dry run changes nothing and announces what the publish does', async ({ t }) => {
    const { source, final } = await start(t);
    moveMain(t, source, (work) => writeTree(work, { 'a.txt': edited(19, 'theirs\n') }));
    const before = readTree(source);
    const plan = await t.workspaces.planPublish(onMain(final.id));
    expect(readTree(source)).toEqual(before);
    const tip = git(source, 'rev-parse', 'main');
    await t.workspaces.publish({ ...onMain(final.id), expect: plan.digest });
    const real = git(source, 'diff', '--name-status', tip, 'main').split('\n');
    const letters = { added: 'A', modified: 'M', deleted: 'D' };
    expect(plan.files.map(({ status, path }) => `${letters[status]}\t${path}`)).toEqual(real);
    expect(git(source, 'rev-parse', 'main')).toBe(targetOf(plan)?.commit);
  });

  test('a publish killed at any point happens once, although the user commits', async ({ t }) => {
    const { source, final } = await start(t);
    const tip = moveMain(t, source, (work) => writeTree(work, { 'a.txt': edited(0, 'theirs\n') }));
    const [conflict] = (await t.workspaces.planPublish(onMain(final.id))).conflicts;
    const seen = conflict?.versions?.source?.oid ?? null;
    const resolutions: Resolution[] = [{ path: 'a.txt', take: 'run', seen }];
    const act = { verb: 'publish', snapshot: final.id, branch: 'main', resolutions };
    let killed = 0;
    for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt += stride) {
      killed += 1;
      const main = git(source, 'rev-parse', 'main');
      const isMoved = main !== tip;
      if (isMoved) expect(git(source, 'rev-parse', 'main^')).toBe(tip);
      // On top of a finished publish, the user changes the same line again. That is no conflict.
      const theirs = moveMain(t, source, (work) => {
        writeTree(work, { 'on-top.txt': String(dieAt), ...(isMoved ? { 'a.txt': edited(0, 'theirs again\n') } : {}) });
      });
      // Sometimes it is killed a second time during recovery.
      if (dieAt % 2 === 0) runUntilKilled({ dataDir: t.dataDir, runId, dieAt: dieAt === 4 ? 5 : 2, act });
      const result = await t.publish({
        ...{ runId, snapshot: final.id, branch: 'main', message: 'publish', resolutions },
      });
      expect(result, `death at ${dieAt}`).toMatchObject({ status: 'published' });
      expect(git(source, 'merge-base', theirs, 'main')).toBe(theirs);
      const subjects = git(source, 'log', '--format=%s', 'main').split('\n');
      expect(subjects.filter((subject) => subject === 'publish')).toHaveLength(1);
      git(source, 'update-ref', 'refs/heads/main', tip);
      rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
    }
    expect(killed).toBe(tried(7));
  });

  test('a merge runs no program planted in branch, workspace or home', async ({ t }) => {
    const canary = join(t.path, 'canary');
    const { source, path, base } = await start(t);
    const touch = `touch ${canary}`;
    writeTree(path, {
      '.gitattributes': '* merge=evil diff=evil\nb.txt filter=evil\n',
      'a.txt': edited(0, 'mine\n'),
      'b.txt': 'mine\n',
    });
    const final = await t.snapshot(base.id);
    moveMain(t, source, (work) => {
      writeTree(work, {
        ...{ '.gitattributes': '* merge=evil\nb.txt filter=evil\n', 'a.txt': edited(19, 'theirs\n') },
      });
    });
    for (const [key, value] of Object.entries({
      'merge.evil.driver': touch,
      'filter.evil.clean': touch,
      'filter.evil.smudge': touch,
      'diff.evil.textconv': touch,
      'core.fsmonitor': touch,
      'core.hooksPath': join(t.path, 'hooks'),
    })) {
      git(source, 'config', key, value);
    }
    for (const hook of ['reference-transaction', 'post-update', 'update', 'pre-receive', 'post-index-change']) {
      writeTree(join(t.path, 'hooks'), { [hook]: { executable: `#!/bin/sh\n${touch}\n` } });
      writeTree(join(source, 'hooks'), { [hook]: { executable: `#!/bin/sh\n${touch}\n` } });
    }
    const plan = await t.workspaces.planPublish(onMain(final.id));
    expect(plan.conflicts.map((conflict) => conflict.path)).toEqual(['b.txt', '.gitattributes', 'a.txt']);
    const resolutions = plan.conflicts.map(({ path: at, versions }): Resolution => {
      return { path: at, take: at === 'b.txt' ? 'run' : 'source', seen: versions?.source?.oid ?? null };
    });
    const settled = await t.workspaces.planPublish(onMain(final.id, resolutions));
    expect(await t.workspaces.publish({ ...onMain(final.id, resolutions), expect: settled.digest })).toMatchObject({
      status: 'published',
    });
    expect(existsSync(canary)).toBe(false);
    expect(gitBytes(source, ['cat-file', 'blob', 'main:a.txt']).toString()).toContain('theirs');
    expect(gitBytes(source, ['cat-file', 'blob', 'main:b.txt']).toString()).toBe('mine\n');
    expect(readFileSync(join(source, 'config'), 'utf8')).toContain('evil');
  });
});
