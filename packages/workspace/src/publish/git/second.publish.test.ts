import { join } from 'node:path';
import type { PullRequestTarget, Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import { git, initRepository, runId, type Temporary, writeTree } from '../../testing/index.ts';

async function start(t: Temporary) {
  const work = join(t.path, 'work');
  writeTree(work, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  initRepository(work);
  const source = join(t.path, 'source.git');
  git(t.path, 'clone', '-q', '--bare', work, source);
  let parent = (await t.workspaces.materialise({ runId, source: { type: 'git', path: source, ref: 'main' } })).id;
  const path = await t.tree();
  const change = async (files: Record<string, string>) => {
    writeTree(path, files);
    parent = (await t.snapshot(parent)).id;
    return parent;
  };
  const commitOnMain = (files: Record<string, string>) => {
    git(work, 'pull', '-q', '--rebase', source, 'main');
    writeTree(work, files);
    git(work, 'add', '-A');
    git(work, 'commit', '-q', '-m', 'theirs');
    git(work, 'push', '-q', source, 'main');
  };
  return { source, change, commitOnMain };
}

describe.each([undefined, 'main'])('a second publish of a run (branch: %s)', (branch) => {
  const target = branch === undefined ? {} : { branch };
  const ref = branch ?? `holdpoint/${runId}`;

  test('adds a commit on top of the first one', async ({ t }) => {
    const { source, change } = await start(t);
    const publish = (snapshot: string) => t.publish({ snapshot, ...target });
    const first = await change({ 'a.txt': 'first\n' });
    await publish(first);
    const one = git(source, 'rev-parse', ref);
    const second = await change({ 'a.txt': 'second\n', 'new.txt': 'new\n' });
    expect(await publish(second)).toMatchObject({ status: 'published' });
    expect(git(source, 'rev-parse', `${ref}^`)).toBe(one);
    expect(git(source, 'show', `${ref}:a.txt`)).toBe('second');
    // An undo can be published, too.
    const back = await t.workspaces.planPublish({ runId, snapshot: first, target: { message: 'm', ...target } });
    expect(back).toMatchObject({ candidate: first, target: { how: 'fast_forward' } });
    expect(await publish(first)).toMatchObject({ status: 'published' });
    expect(git(source, 'show', `${ref}:a.txt`)).toBe('first');
    expect(git(source, 'ls-tree', '--name-only', ref).split('\n')).toEqual(['a.txt', 'b.txt']);
  });

  test('returns the plan of a publish that is done', async ({ t }) => {
    const { source, change } = await start(t);
    const request = { runId, snapshot: await change({ 'a.txt': 'first\n' }), target: { message: 'm', ...target } };
    const plan = await t.workspaces.planPublish(request);
    const result = await t.workspaces.publish({ ...request, expect: plan.digest });
    const again = await t.workspaces.planPublish(request);
    expect(again).toMatchObject({
      digest: plan.digest,
      candidate: plan.candidate,
      files: [],
      target: { how: 'nothing' },
    });
    expect(await t.reopen().publish({ ...request, expect: plan.digest })).toEqual(result);
    expect(git(source, 'rev-list', '--count', ref)).toBe('2');
  });
});

test('the digest of a publish covers its pull request, also once the branch is there', async ({ t }) => {
  const { source, change } = await start(t);
  const snapshot = await change({ 'a.txt': 'first\n' });
  const pull_request: PullRequestTarget = {
    ...{ provider: 'github', api: 'https://api.github.com', repository: 'owner/project' },
    ...{ secret: 'GIT_TOKEN', title: 'First', base: 'main' },
  };
  const plan = (changed?: object) => {
    const pull = changed === undefined ? {} : { pull_request: { ...pull_request, ...changed } };
    return t.workspaces.planPublish({ runId, snapshot, target: { message: 'm', ...pull } });
  };
  const others = [
    undefined,
    { title: 'Second' },
    { base: 'next' },
    { api: 'https://evil.example' },
    { draft: true as const },
  ];
  const approved = await plan({});
  expect(approved.target).toMatchObject({ how: 'create', pull_request });
  const target = { message: 'm', pull_request };
  await t.workspaces.publish({ runId, snapshot, target, expect: approved.digest });
  const commit = git(source, 'rev-parse', `holdpoint/${runId}`);
  // The worker died before the pull request was opened: what was approved is still approved.
  expect(await plan({})).toMatchObject({ digest: approved.digest, target: { how: 'nothing', commit } });
  const digests = await Promise.all(others.map(async (other) => (await plan(other)).digest));
  expect(new Set([approved.digest, ...digests]).size).toBe(others.length + 1);
  expect(digests).toEqual(await Promise.all(others.map(async (other) => (await plan(other)).digest)));
  expect(await t.workspaces.publish({ runId, snapshot, target: { message: 'm' }, expect: approved.digest })).toEqual({
    status: 'moved',
  });
});

test('a run does not extend its own branch when another commit is on top', async ({ t }) => {
  const { source, change } = await start(t);
  await t.publish({ snapshot: await change({ 'a.txt': 'first\n' }) });
  const ref = `refs/heads/holdpoint/${runId}`;
  const tree = git(source, 'rev-parse', `${ref}^{tree}`);
  git(source, 'update-ref', ref, git(source, 'commit-tree', '-p', ref, '-m', 'theirs', tree));
  const theirs = git(source, 'rev-parse', ref);
  const next = await change({ 'b.txt': 'second\n' });
  expect(await t.publish({ snapshot: next })).toMatchObject({
    conflicts: [{ path: ref, reason: 'branch_exists' }],
  });
  const named = await t.publish({ snapshot: next, branch: `holdpoint/${runId}` });
  expect(named).toMatchObject({ status: 'published' });
  expect(git(source, 'rev-parse', `${ref}^`)).toBe(theirs);
});

test('a second publish keeps the resolutions of the first on a moving branch', async ({ t }) => {
  const { source, change, commitOnMain } = await start(t);
  const snapshot = await change({ 'a.txt': 'run\n' });
  commitOnMain({ 'a.txt': 'theirs\n' });
  const target = { message: 'm', branch: 'main' };
  const [conflict] = (await t.workspaces.planPublish({ runId, snapshot, target })).conflicts;
  const seen = conflict?.versions?.source?.oid ?? null;
  const resolutions: Resolution[] = [{ path: 'a.txt', take: 'source', seen }];
  const none = await t.publish({ snapshot, branch: 'main', resolutions });
  expect(none).toMatchObject({ status: 'published', published: { commit: git(source, 'rev-parse', 'main') } });

  const next = await change({ 'b.txt': 'run\n' });
  const both: Resolution[] = [{ path: 'a.txt', take: 'text', text: 'both\n', seen }];
  await t.publish({ snapshot: next, branch: 'main', resolutions: both });
  commitOnMain({ 'c.txt': 'theirs\n' });
  const last = await change({ 'd.txt': 'run\n' });
  expect(await t.publish({ snapshot: last, branch: 'main' })).toMatchObject({ status: 'published' });
  const files = { 'a.txt': 'both', 'b.txt': 'run', 'c.txt': 'theirs', 'd.txt': 'run' };
  for (const [path, text] of Object.entries(files)) expect(git(source, 'show', `main:${path}`)).toBe(text);
  // A person is asked again only when the run changes such a file again.
  const again = await change({ 'a.txt': 'run once more\n' });
  const plan = await t.workspaces.planPublish({ runId, snapshot: again, target });
  expect(plan.conflicts).toMatchObject([
    { path: 'a.txt', versions: { base: { text: 'run\n' }, source: { text: 'both\n' } } },
  ]);
});

test('a blank message is replaced by a default', async ({ t }) => {
  const { source, change } = await start(t);
  const snapshot = await change({ 'a.txt': 'x\n' });
  await t.publish({ snapshot, message: ' \n' });
  expect(git(source, 'show', '-s', '--format=%B', `holdpoint/${runId}`)).toBe(`Holdpoint run ${runId}`);
});
