import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitSource, PublishTarget } from '@holdpoint/contract';
import type { Workspaces } from '@holdpoint/workspace';
import { git, initRepository, unmountBelow } from '@holdpoint/workspace/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer } from '../testing/git-server.ts';
import { openRemoteWorkspaces, type RemoteWorkspaces, token } from '../testing/remote-workspaces.ts';

let root: string;
let opened: RemoteWorkspaces;
let server: GitServer;
let runs = 0;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdpoint-remote-'));
  chmodSync(root, 0o711);
  mkdirSync(join(root, 'work'));
  server = await startGitServer(join(root, 'served'), { password: token });
  opened = await openRemoteWorkspaces({ root, certificate: server.certificate.cert, url: server.url('') });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await opened[Symbol.asyncDispose]();
  unmountBelow(root);
  rmSync(root, { recursive: true, force: true });
});

/** A remote of its own, a run that changed `a.txt`, and a person with a clone. */
async function start(more: Partial<GitSource> = {}) {
  const name = `r${++runs}.git`;
  const [bare, clone, runId] = [join(root, 'served', name), join(root, 'work', name), `run_${runs}`];
  mkdirSync(clone, { recursive: true });
  writeFileSync(join(clone, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
  writeFileSync(join(clone, 'b.txt'), 'b\n');
  initRepository(clone);
  writeFileSync(join(clone, 'b.txt'), 'bb\n');
  git(clone, 'commit', '-qam', 'second');
  git(root, 'clone', '-q', '--bare', clone, bare);
  git(bare, 'config', 'http.receivepack', 'true');
  git(clone, 'remote', 'add', 'origin', bare);
  const push = (file: string, text: string, branch = 'main'): string => {
    writeFileSync(join(clone, file), text);
    git(clone, 'add', '-A');
    git(clone, 'commit', '-qm', text.trim());
    git(clone, 'push', '-q', 'origin', `HEAD:${branch}`);
    return git(clone, 'rev-parse', 'HEAD');
  };
  const source: GitSource = { type: 'git', url: server.url(name), credentials: { secret: 'GIT_TOKEN' }, ...more };
  const { workspaces } = opened;
  const made = await workspaces.materialise({ runId, source, tenant: 'default' });
  const { path } = await workspaces.locate({ runId, epoch: 1 });
  writeFileSync(join(path, 'a.txt'), 'one\ntwo\nthree\nfour\nof the run\n');
  const { id } = await workspaces.snapshot({ runId, epoch: 1, parent: made.id, message: '' });
  const plan = (target: Partial<PublishTarget> = {}, on: Workspaces = workspaces) =>
    on.planPublish({ runId, snapshot: id, target: { message: 'change', ...target } });
  const publish = async (target: Partial<PublishTarget> = {}, digest?: string, on: Workspaces = workspaces) =>
    on.publish({
      ...{ runId, snapshot: id, target: { message: 'change', ...target } },
      expect: digest ?? (await plan(target, on)).digest,
    });
  return { bare, clone, runId, made, push, plan, publish, source, snapshot: id };
}

test('a publish pushes one commit to a new branch, and no other branch moves', async () => {
  const { bare, runId, made, plan, publish, source } = await start();
  const before = git(bare, 'for-each-ref');
  const planned = await plan();
  expect(planned.target).toMatchObject({ how: 'create', path: source.url, branch: `refs/heads/holdpoint/${runId}` });
  expect(await publish()).toMatchObject({ status: 'published', published: { path: source.url } });
  expect(git(bare, 'log', '-1', '--format=%P %s', `holdpoint/${runId}`)).toBe(`${made.base_commit} change`);
  expect(git(bare, 'diff', '--stat', 'main', `holdpoint/${runId}`)).toContain('1 file changed');
  expect(git(bare, 'for-each-ref', 'refs/heads/main')).toBe(before);
  expect(git(bare, 'for-each-ref', '--format=%(refname)').split('\n')).toHaveLength(2);
  expect(git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  expect((await plan()).target).toMatchObject({ how: 'nothing' });
});

test('a branch that is named moves by fast-forward, or with what others pushed merged in', async () => {
  const { bare, plan, publish, push } = await start({ ref: 'main' });
  expect((await plan({ branch: 'main' })).target).toMatchObject({ how: 'fast_forward' });
  const tip = push('c.txt', 'of others\n');
  expect((await plan({ branch: 'main' })).target).toMatchObject({ how: 'merge', from: tip });
  expect(await publish({ branch: 'main' })).toMatchObject({ status: 'published' });
  expect(git(bare, 'log', '--format=%s', 'main')).toBe('change\nof others\nsecond\nbase');
  expect(git(bare, 'show', 'main:a.txt')).toContain('of the run');
  expect(git(bare, 'show', 'main:c.txt')).toBe('of others');
});

test('the same lines changed by others are a conflict, and nothing is pushed', async () => {
  const { bare, plan, push } = await start();
  const tip = push('a.txt', 'one\ntwo\nthree\nfour\nof others\n');
  const { conflicts } = await plan({ branch: 'main' });
  expect(conflicts).toMatchObject([{ path: 'a.txt', reason: 'merge' }]);
  expect(git(bare, 'rev-parse', 'main')).toBe(tip);
});

test('a branch that moves between plan and publish, or during the push, is not overwritten', async () => {
  const { bare, plan, publish, push } = await start();
  const { digest } = await plan({ branch: 'main' });
  const tip = push('c.txt', 'of others\n');
  expect(await publish({ branch: 'main' }, digest)).toEqual({ status: 'moved' });
  let last = tip;
  const racing = opened.reopen({
    onPoint: (point) => {
      if (point === 'publish-git.intent') last = push('d.txt', 'just before the push\n');
    },
  });
  expect(await publish({ branch: 'main' }, undefined, racing)).toEqual({ status: 'moved' });
  expect(git(bare, 'rev-parse', 'main')).toBe(last);
});

test('a branch name that is taken is a conflict', async () => {
  const { runId, plan, push } = await start();
  push('c.txt', 'of others\n', `holdpoint/${runId}`);
  expect((await plan()).conflicts).toMatchObject([{ reason: 'branch_exists' }]);
  push('d.txt', 'x\n', 'a/b');
  expect((await plan({ branch: 'a' })).conflicts).toMatchObject([{ reason: 'branch_exists' }]);
});

test('a publish that died after the push is found done, also under commits of others', async () => {
  const { bare, clone, publish, plan, push, runId } = await start();
  const branch = `refs/heads/holdpoint/${runId}`;
  const { digest } = await plan();
  const dying = opened.reopen({
    onPoint: (point) => {
      if (point === 'publish-git.branch') throw new Error('died');
    },
  });
  await expect(publish({}, digest, dying)).rejects.toThrow('died');
  const commit = git(bare, 'rev-parse', branch);
  expect(await publish({}, digest)).toMatchObject({ status: 'published', published: { commit } });
  git(clone, 'fetch', '-q', 'origin', branch);
  git(clone, 'reset', '-q', '--hard', 'FETCH_HEAD');
  push('c.txt', 'on top\n', `holdpoint/${runId}`);
  expect(await publish({ branch: `holdpoint/${runId}` }, digest)).toMatchObject({ status: 'published' });
  expect(git(bare, 'rev-parse', `${branch}~1`)).toBe(commit);
});

test('what the host refuses says why, and stays unpublished', async () => {
  const { bare, publish } = await start();
  writeFileSync(join(bare, 'hooks/update'), '#!/bin/sh\necho "the branch is protected" >&2\nexit 1\n', { mode: 0o755 });
  await expect(publish()).rejects.toMatchObject({
    code: 'EREMOTEREFUSED',
    retryable: false,
    message: expect.stringContaining('the branch is protected'),
  });
});

test('a dry run of a process without remotes contacts none', async () => {
  const { runId, snapshot } = await start({ ref: 'main' });
  const before = server.requests.length;
  const api = opened.reopen({ isOff: true });
  const target = { message: 'x' };
  expect((await api.previewPublish({ runId, snapshot, target })).target).toMatchObject({ how: 'create' });
  const main = { ...target, branch: 'main' };
  expect((await api.previewPublish({ runId, snapshot, target: main })).target).toMatchObject({ how: 'fast_forward' });
  expect(server.requests.length).toBe(before);
});

test('the settings of the remote clone inside have no token', async () => {
  const { runId } = await start();
  const { path } = await opened.workspaces.locate({ runId, epoch: 1 });
  expect(readFileSync(join(path, '.git/config'), 'utf8')).not.toContain('localhost:');
});
