import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bwrapCandidates, isRoot, marker, processesWith, until, useTestHost } from '../testing/host.ts';
import type { WorkspaceMount } from '../tree.ts';
import { findHostTools } from './host-tools.ts';
import { planMountRemap } from './mount-remap.ts';
import { planMountView } from './mount-view.ts';

const { host } = useTestHost({ spares: 0 });

const tools = {
  ...findHostTools({ bwrapCandidates, path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }),
  viewScript: readFileSync(new URL('mount-view.sh', import.meta.url), 'utf8'),
};

/** A workspace as an installation has them: in a folder that every user may pass, below one that only root may pass. */
function closedWorkspace(): WorkspaceMount {
  const runs = join(mkdtempSync(join(host.directory, 'closed-')), 'runs');
  mkdirSync(runs, { mode: 0o711 });
  return host.makeWorkspace(runs);
}

function plan(workspace: WorkspaceMount) {
  const needed = [tools.bwrap, workspace.path, ...(workspace.sourceFolders ?? []).map((folder) => folder.host)];
  const remap = planMountRemap(needed, workspace) ?? expect.fail('reachable');
  return planMountView(tools, { remap, needed, workspace });
}

const namespaceOf = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/mnt`);

const mountPointsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');

/** Mount namespaces that a starter of this process has open. */
function openViews(): string[] {
  const starters = processesWith(`starter/main.mjs\0${process.pid}\0`);
  return starters.flatMap((pid) => {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return ''; // closed since the list was read
      }
    });
    return links.filter((link) => link.startsWith('mnt:'));
  });
}

/** Runs a command until `look` has seen its bubblewrap. */
async function during<Seen>(workspace: WorkspaceMount, look: (bwrap: number) => Seen): Promise<Seen> {
  const word = marker();
  const abort = new AbortController();
  const running = host.run(workspace, `sleep 1000; : ${word}`, { signal: abort.signal });
  // Both bash and sleep are below the first process, whose parent is bubblewrap.
  await until(() => processesWith(word).length > 0);
  const parent = (pid: number) => Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const seen = look(parent(parent(processesWith(word)[0] ?? expect.fail())));
  abort.abort(new Error('seen'));
  await running;
  return seen;
}

test.runIf(isRoot)(
  'commands of closed folders start in one view, with the sandbox that they had without it',
  async () => {
    const line = 'echo made > made; ls -A /; ls -A /mnt 2>&1; cut -d " " -f 4- /proc/self/mountinfo | grep -c .; id';
    const workspace = closedWorkspace();
    const before = await host.run(workspace, line);
    const look = (bwrap: number) => ({ namespace: namespaceOf(bwrap), points: mountPointsOf(bwrap) });
    // The first commands do not wait for the view.
    let seen = await during(workspace, look);
    while (!openViews().includes(seen.namespace)) seen = await during(workspace, look);
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
    expect(await during(other, namespaceOf)).toBe(seen.namespace);
    expect(openViews()).toEqual([seen.namespace]);
  },
);

test.runIf(isRoot)('a tree that is a mount is shown as a mount, without a view', async () => {
  const workspace = closedWorkspace();
  await host.run(workspace, 'true');
  await until(() => openViews().length > 0);
  const views = openViews();
  const { path, uid, gid } = workspace;
  execFileSync('mount', ['-t', 'tmpfs', '-o', `uid=${uid},gid=${gid},mode=700`, 'tmpfs', path]);
  onTestFinished(() => void execFileSync('umount', [path]));
  writeFileSync(join(path, 'mounted'), '');
  expect(plan(workspace)).toBeNull();
  expect((await host.run(workspace, 'ls')).stdout.text).toBe('mounted\n');
  expect(await during(workspace, namespaceOf)).not.toSatisfy((namespace: string) => views.includes(namespace));
});

test.runIf(isRoot)('folders of one workspace alone, and folders of a source, are never held by a view', () => {
  const closed = closedWorkspace();
  expect(plan(closed)).not.toBeNull();
  expect(plan(host.makeWorkspace(mkdtempSync(join(host.directory, 'closed-'))))).toBeNull();
  const folder = { path: 'with', host: '/usr/share', identity: '' };
  expect(plan({ ...closed, sourceFolders: [folder] })).toBeNull();
});

test.runIf(isRoot)('a view has another key once the folder is another one', () => {
  const workspace = closedWorkspace();
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
