import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceMount } from '../tree.ts';
import { marker, processesWith, type TestHost, until } from './host.ts';

/** For tests of the mount namespaces that a starter of this process keeps. */

/** A workspace as an installation has them: in a folder that every user may pass, below one that only root may pass. */
export function closedWorkspace(host: TestHost): WorkspaceMount {
  const runs = join(mkdtempSync(join(host.directory, 'closed-')), 'runs');
  mkdirSync(runs, { mode: 0o711 });
  return host.makeWorkspace(runs);
}

export const starters = (): number[] => processesWith(`starter/main.mjs\0${process.pid}\0`);

export const namespaceOf = (pid: number | string): string => linkOf(`/proc/${pid}/ns/mnt`);

/** Paths and names of the mount namespaces that are kept. */
function views(): { path: string; name: string }[] {
  const paths = starters().flatMap((pid) => descriptorsOf(pid).map((fd) => `/proc/${pid}/fd/${fd}`));
  return paths.map((path) => ({ path, name: linkOf(path) })).filter(({ name }) => name.startsWith('mnt:'));
}

/** Empty when the process has ended. */
function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

export const openViews = (): string[] => views().map(({ name }) => name);

/** Lines of the tables of mounts in all views. */
export const mountsOfViews = (): string[] =>
  views().flatMap(({ path }) =>
    execFileSync('nsenter', [`--mount=${path}`, 'cat', '/proc/self/mountinfo'], { encoding: 'utf8' })
      .trim()
      .split('\n'),
  );

/** Whether some process is in a mount namespace. */
export const isInUse = (namespace: string): boolean =>
  readdirSync('/proc').some((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace);

/** Runs a command until `look` has seen its bubblewrap. */
export async function during<Seen>(
  { host, workspace }: { host: TestHost; workspace: WorkspaceMount },
  look: (bwrap: number) => Seen | Promise<Seen>,
): Promise<Seen> {
  const word = marker();
  const abort = new AbortController();
  const running = host.run(workspace, `sleep 1000; : ${word}`, { signal: abort.signal });
  running.catch(() => {});
  // Both bash and sleep are below the first process, whose parent is bubblewrap.
  await until(() => processesWith(word).length > 0);
  const parent = (pid: number) => Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const seen = await look(parent(parent(processesWith(word)[0] ?? 0)));
  abort.abort(new Error('seen'));
  await running.catch(() => {});
  return seen;
}

/** Resolves with the view of the workspace: its first commands do not wait for it. */
export async function viewOf(scene: { host: TestHost; workspace: WorkspaceMount }): Promise<string> {
  for (;;) {
    const namespace = await during(scene, namespaceOf);
    if (openViews().includes(namespace)) return namespace;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed, or ended
  }
}
