import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Starter } from '../starter/starter.ts';
import { bwrapCandidates, isRoot, openTestHost, until, useTestHost } from '../testing/host.ts';
import { closedWorkspace, during, mountsOfViews, namespaceOf, openViews, viewOf } from '../testing/views.ts';
import type { WorkspaceMount } from '../tree.ts';
import { findHostTools } from './host-tools.ts';
import { type MountRemap, planMountRemap } from './mount-remap.ts';
import { planMountView } from './mount-view.ts';

const { host } = useTestHost({ spares: 0 });

const tools = {
  ...findHostTools({ bwrapCandidates, path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }),
  viewScript: readFileSync(new URL('mount-view.sh', import.meta.url), 'utf8'),
};

function plan(workspace: WorkspaceMount, other: Partial<MountRemap> = {}, using = tools) {
  const needed = [tools.bwrap, workspace.path, ...(workspace.sourceFolders ?? []).map((folder) => folder.host)];
  const remap = planMountRemap(needed, workspace) ?? expect.fail('reachable');
  return planMountView(using, { remap: { ...remap, ...other }, needed, workspace });
}

const mountPointsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');

test.runIf(isRoot)(
  'commands of closed folders start in one view, with the sandbox that they had without it',
  async () => {
    const line = 'echo made > made; ls -A /; ls -A /mnt 2>&1; cut -d " " -f 4- /proc/self/mountinfo | grep -c .; id';
    const workspace = closedWorkspace(host);
    const before = await host.run(workspace, line);
    const look = (bwrap: number) => ({ namespace: namespaceOf(bwrap), points: mountPointsOf(bwrap) });
    await viewOf({ host, workspace });
    const seen = await during({ host, workspace }, look);
    const after = await host.run(workspace, line);
    expect(after).toMatchObject({ end: before.end, stdout: before.stdout, stderr: before.stderr });
    expect(before.end).toMatchObject({ exit_code: 0 });
    expect(statSync(join(workspace.path, 'made')).uid).toBe(workspace.uid);

    expect(seen.namespace).not.toBe(namespaceOf('self'));
    // /sys is mounted on every host, and no sandbox needs it.
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).toContain(' /sys ');
    expect(seen.points).toEqual(expect.arrayContaining(['/', '/proc']));
    expect(seen.points.filter((point) => point.startsWith('/sys'))).toEqual([]);
    const { runs, other } = { runs: join(workspace.path, '..'), other: host.makeWorkspace(join(workspace.path, '..')) };
    expect((await host.run(other, `ls ${runs}`)).end).toMatchObject({ exit_code: 2 });
    expect(await during({ host, workspace: other }, namespaceOf)).toBe(seen.namespace);
    expect(openViews()).toEqual([seen.namespace]);
  },
);

/** A workspace whose tree is a mount, as that of a run on a layer is. */
function mountedWorkspace(): WorkspaceMount {
  const workspace = closedWorkspace(host);
  const { path, uid, gid } = workspace;
  execFileSync('mount', ['-t', 'tmpfs', '-o', `uid=${uid},gid=${gid},mode=700`, 'tree-of-run', path]);
  onTestFinished(() => void execFileSync('umount', [path]));
  return workspace;
}

const withoutPerl = { ...tools, perl: null };

test.runIf(isRoot)('commands of a tree that is a mount start in a copy of the view that has it besides', async () => {
  const workspace = mountedWorkspace();
  // Signals, groups and descriptors too: nothing of Perl is left.
  const line =
    'echo made > made; ls -A / /mnt 2>&1; cut -d " " -f 4- /proc/self/mountinfo; id; ls /proc/self/fd; cat /proc/self/status';
  const run = async () => {
    const { end, stdout, stderr } = await host.run(workspace, line);
    const lasting = stdout.text
      .split('\n')
      .filter((one) => !/^(NSpid|Pid|.*ctxt|Vm\w+|Rss\w+|Cpus\w*|Mems\w*):?/.test(one));
    return { end, stderr: stderr.text, lines: lasting };
  };
  const before = await run();
  expect(before.end).toMatchObject({ exit_code: 0 });
  const look = (bwrap: number) => ({
    namespace: namespaceOf(bwrap),
    table: readFileSync(`/proc/${bwrap}/mountinfo`, 'utf8'),
  });
  let seen = await during({ host, workspace }, look);
  // The first commands do not wait for the view.
  while (/ \/sys /.test(seen.table)) seen = await during({ host, workspace }, look);
  expect(seen.table).toContain(' - tmpfs tree-of-run ');
  expect(openViews()).not.toContain(seen.namespace);
  expect(mountsOfViews().filter((one) => one.includes('tree-of-run'))).toEqual([]);
  expect(await run()).toMatchObject({ stderr: before.stderr, lines: before.lines });
  expect(statSync(join(workspace.path, 'made')).uid).toBe(workspace.uid);
});

test.runIf(isRoot)('without Perl a tree that is a mount is shown without a view', async () => {
  const workspace = mountedWorkspace();
  expect(plan(workspace)).not.toBeNull();
  expect(plan(workspace, {}, withoutPerl)).toBeNull();
});

test.runIf(isRoot)('another mount below a closed folder is never held by a view', () => {
  const workspace = closedWorkspace(host);
  const place = join(workspace.path, '../with');
  mkdirSync(place);
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', place]);
  onTestFinished(() => void execFileSync('umount', [place]));
  const remap = planMountRemap([workspace.path], workspace) ?? expect.fail('reachable');
  expect(planMountView(tools, { remap, needed: [workspace.path], workspace })).not.toBeNull();
  expect(planMountView(tools, { remap, needed: [workspace.path, place], workspace })).toBeNull();
});

test.runIf(isRoot)('folders of one workspace alone, and folders of a source, are never held by a view', () => {
  const closed = closedWorkspace(host);
  expect(plan(closed)).not.toBeNull();
  expect(plan(host.makeWorkspace(mkdtempSync(join(host.directory, 'closed-'))))).toBeNull();
  const folder = { path: 'with', host: '/usr/share', identity: '' };
  expect(plan({ ...closed, sourceFolders: [folder] })).toBeNull();
});

test.runIf(isRoot)('a view has another key once the folder is another one', () => {
  const workspace = closedWorkspace(host);
  const keyOf = () => plan(workspace)?.key;
  const key = keyOf();
  expect(keyOf()).toBe(key);
  const runs = join(workspace.path, '..');
  execFileSync('mv', [runs, `${runs}.old`]);
  mkdirSync(runs, { mode: 0o711 });
  mkdirSync(workspace.path, { mode: 0o777 });
  expect(keyOf()).toEqual(expect.stringContaining(runs.slice(0, -'/workspace-1/..'.length)));
  expect(keyOf()).not.toBe(key);
});

test.runIf(isRoot)('a view has another key once the mount point is another folder', () => {
  const workspace = closedWorkspace(host);
  const mountPoint = mkdtempSync(join(host.directory, 'mnt-'));
  const keyOf = () => plan(workspace, { mountPoint })?.key;
  const key = keyOf();
  expect(keyOf()).toBe(key);
  renameSync(mountPoint, `${mountPoint}.old`);
  mkdirSync(mountPoint);
  expect(keyOf()).not.toBe(key);
});

test.runIf(isRoot).each([
  ['on a mount of its own', true],
  ['below another closed folder', false],
])('a bubblewrap that lies %s is part of the view', async (_, isMount) => {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bwrap-'));
  if (isMount) execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', directory]);
  const programs = join(directory, 'programs');
  mkdirSync(programs, { mode: 0o755 });
  const bwrap = join(programs, 'bwrap');
  copyFileSync(tools.bwrap, bwrap);
  chmodSync(bwrap, 0o755);
  if (isMount) chmodSync(directory, 0o755);
  const other = await openTestHost({ spares: 0, bwrapPath: bwrap });
  try {
    const workspace = closedWorkspace(other);
    await viewOf({ host: other, workspace });
    expect((await other.run(workspace, 'ls -A /mnt /workspace 2>/dev/null')).stdout.text).toBe('/workspace:\n');
  } finally {
    await other[Symbol.asyncDispose]();
    if (isMount) execFileSync('umount', [directory]);
    rmSync(directory, { recursive: true });
  }
});

test.runIf(isRoot)('a host whose nsenter leaves something of root has no view', async () => {
  const starter = new Starter(tools);
  onTestFinished(() => starter.close());
  const workspace = closedWorkspace(host);
  const ids = `--reuid=${workspace.uid} --regid=${workspace.gid}`;
  const nsenterPath = (name: string) => join(host.directory, `nsenter-${name}`);
  const drops = { all: `${ids} --clear-groups`, uid: '--clear-groups', groups: `${ids} --groups=4` };
  for (const [name, drop] of Object.entries(drops)) {
    const path = nsenterPath(name);
    const lines = [
      '#!/bin/bash',
      'view=$1; until [[ $1 == -- ]]; do shift; done; shift',
      `nsenter "$view" setpriv ${drop} "$@"; code=$?; touch ${path}.tried; exit $code`,
    ];
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o755 });
  }
  const ask = (name: keyof typeof drops, key: string = name) =>
    starter.view(key, plan(workspace, {}, { ...tools, nsenter: nsenterPath(name) }) ?? expect.fail('no view'));
  for (const name of ['uid', 'groups'] as const) {
    expect(ask(name)).toBeNull();
    await until(() => existsSync(`${nsenterPath(name)}.tried`));
    // The starter has reported the other one before.
    await until(() => ask('all', `after ${name}`) !== null);
    expect(ask(name)).toBeNull();
  }
});
