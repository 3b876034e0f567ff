import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHostTools } from '../../../packages/sandbox/src/bubblewrap/host-tools.ts';
import { planView } from '../../../packages/sandbox/src/bubblewrap/view.ts';

export const projectDir = resolve(fileURLToPath(new URL('.', import.meta.url)), '../../..');
export const bwrapCandidate = join(projectDir, '.cache/bubblewrap/usr/bin/bwrap');
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Who runs a worker. */
export interface User {
  name: string;
  uid: number;
  gid: number;
  root: boolean;
}

/** Nobody else's: far above those of accounts, a hundred for each test process. */
export const firstFreeUid = 1_000_000 + process.pid * 100;

/** Both kinds of worker where the suite is started as root, else the caller's own. */
export const users: readonly User[] =
  process.getuid?.() === 0
    ? [
        { name: 'root', uid: 0, gid: 0, root: true },
        { name: 'an unprivileged user', uid: firstFreeUid, gid: firstFreeUid, root: false },
      ]
    : [{ name: 'an unprivileged user', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, root: false }];

/** Starts a program of this suite as a user, in a view of the project where that user cannot reach it. The child is the program itself. */
export function startAs(user: User, entry: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const program = [process.execPath, join(projectDir, entry)];
  if (user.root || user.uid === process.getuid?.()) {
    return spawn(process.execPath, [...program.slice(1), ...args], options);
  }
  const { bash, setpriv, unshare } = findHostTools({ bwrapCandidates: [bwrapCandidate], path: SYSTEM_PATH });
  if (!setpriv || !unshare) throw new Error('setpriv and unshare (util-linux) are needed to become another user');
  const view = planView([projectDir, process.execPath], user);
  const drop = [setpriv, `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'];
  if (!view) return spawn(setpriv, [...drop.slice(1), ...program, ...args], options);
  const script = readFileSync(join(projectDir, 'packages/sandbox/src/bubblewrap/view.sh'), 'utf8');
  const show = ['--mount', '--propagation', 'private', '--', bash, '-p', '-c', script, 'view', view.mountPoint];
  const moved = [...program.map((path) => view.hostPath(path)), ...args];
  return spawn(unshare, [...show, ...view.sources, '--', ...drop, ...moved], options);
}
