import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test as anyTest, expect, onTestFinished } from 'vitest';
import { isRoot, until, useTestHost } from '../testing/host.ts';
import {
  closedWorkspace,
  during,
  isInUse,
  mountsOfViews,
  namespaceOf,
  openViews,
  starters,
  viewOf,
} from '../testing/views.ts';
import type { WorkspaceMount } from '../tree.ts';

const { host } = useTestHost({ spareIdleMs: 2000 });
const test = anyTest.skipIf(!isRoot);

const read = async (workspace: WorkspaceMount): Promise<string> => {
  const { end, stdout, stderr } = await host.run(workspace, 'cat name');
  expect(end, stderr.text).toMatchObject({ exit_code: 0 });
  return stdout.text;
};

function makeTree({ path, uid, gid }: WorkspaceMount, name: string): void {
  mkdirSync(path, { recursive: true, mode: 0o711 });
  chownSync(path, uid, gid);
  writeFileSync(join(path, 'name'), name);
}

/** A workspace whose commands start in a view, with a spare. */
async function viewed(name: string): Promise<{ workspace: WorkspaceMount; closed: string }> {
  const workspace = closedWorkspace(host);
  makeTree(workspace, name);
  await viewOf({ host, workspace });
  expect(await read(workspace)).toBe(name);
  return { workspace, closed: dirname(dirname(workspace.path)) };
}

test('a closed folder that is replaced between two commands is shown as it is then', async () => {
  const { workspace, closed } = await viewed('first');
  renameSync(closed, `${closed}.first`);
  mkdirSync(closed, { mode: 0o700 });
  makeTree(workspace, 'second');
  expect(await read(workspace)).toBe('second');
  renameSync(closed, `${closed}.second`);
  symlinkSync(`${closed}.first`, closed);
  expect(await read(workspace)).toBe('first');
  execFileSync('rm', [closed]);
  await expect(read(workspace)).rejects.toThrow();
  renameSync(`${closed}.second`, closed);
  expect(await read(workspace)).toBe('second');
});

test('a folder inside that is replaced, or made later, is shown', async () => {
  const { workspace } = await viewed('first');
  renameSync(workspace.path, `${workspace.path}.old`);
  makeTree(workspace, 'second');
  expect(await read(workspace)).toBe('second');
  const other = host.makeWorkspace(dirname(workspace.path));
  makeTree(other, 'other');
  expect(await read(other)).toBe('other');
  expect(await read(workspace)).toBe('second');
});

test('a closed folder on a mount that goes away is shown as it is then', async () => {
  const { workspace, closed } = await viewed('below');
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=700', 'tmpfs', closed]);
  let isMounted = true;
  onTestFinished(() => void (isMounted && execFileSync('umount', [closed])));
  mkdirSync(dirname(workspace.path), { mode: 0o711 });
  makeTree(workspace, 'mounted');
  await viewOf({ host, workspace });
  expect(await read(workspace)).toBe('mounted');
  execFileSync('umount', [closed]);
  isMounted = false;
  expect(await read(workspace)).toBe('below');
});

test('the spare that follows a command sees the folder that was replaced during the command', async () => {
  const { workspace } = await viewed('first');
  const runs = dirname(workspace.path);
  const running = host.run(workspace, 'touch up; until [[ -e go ]]; do sleep 0.1; done');
  await until(() => existsSync(join(workspace.path, 'up')));
  // The one that was made beside the command ends, because it waits for too long.
  await until(() => host.sandbox.spares.waiting === 0);
  renameSync(runs, `${runs}.first`);
  mkdirSync(runs, { mode: 0o711 });
  makeTree(workspace, 'second');
  writeFileSync(`${runs}.first/${workspace.path.slice(runs.length)}/go`, '');
  expect((await running).end).toMatchObject({ exit_code: 0 });
  expect(await read(workspace)).toBe('second');
});

test('a tree that is a mount is held by no view, whether the view is older or not', async () => {
  const workspace = closedWorkspace(host);
  makeTree(workspace, 'plain');
  const trees = ['before', 'after'].map((name) => ({ name, tree: host.makeWorkspace(dirname(workspace.path)) }));
  const mounted = new Set<string>();
  const unmount = (path: string) => {
    execFileSync('umount', [path]);
    mounted.delete(path);
  };
  onTestFinished(() => [...mounted].forEach(unmount));
  for (const { name, tree } of trees) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=711,uid=${tree.uid},gid=${tree.gid}`, `tree-${name}`, tree.path]);
    mounted.add(tree.path);
    makeTree(tree, name);
    await viewOf({ host, workspace });
    expect(await read(tree)).toBe(name);
  }
  const lines = mountsOfViews();
  expect(lines.join('\n')).toContain(' /proc ');
  expect(lines.filter((line) => line.includes(' tree-'))).toEqual([]);
  for (const { tree } of trees) {
    await host.sandbox.killAll(tree.id);
    unmount(tree.path);
    // The plain folder below.
    expect((await host.run(tree, 'ls -A')).stdout.text).toBe('');
  }
});

test('a starter that is killed takes its views and their sandboxes along', async () => {
  const { workspace } = await viewed('first');
  await during({ host, workspace }, async (bwrap) => {
    const namespace = namespaceOf(bwrap);
    expect(openViews()).toContain(namespace);
    for (const pid of starters()) process.kill(pid, 'SIGKILL');
    await until(() => openViews().length === 0 && !isInUse(namespace));
  });
  expect(await read(workspace)).toBe('first');
  await viewOf({ host, workspace });
});
