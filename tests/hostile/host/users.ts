import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bwrapPath, findHostTools, planMountRemap, remapScript } from '@holdpoint/sandbox/testing';
import { unmountBelow } from '@holdpoint/workspace/testing';

export const projectDir = resolve(fileURLToPath(new URL('.', import.meta.url)), '../../..');
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The user of a worker. */
export interface User {
  name: string;
  uid: number;
  gid: number;
  root: boolean;
  /**
   * Whether the data of its scene lies below a folder open to this user alone: its sandboxes then start in a view of the folder. @default
   * no
   */
  closed?: boolean;
}

/** Uids unused by any account: far above the accounts' uids, a hundred for each test process. */
export const firstFreeUid = 1_000_000 + process.pid * 100;

/** As root the suite tests both kinds of worker, else only the caller's own. */
export const users: readonly User[] =
  process.getuid?.() === 0
    ? [
        { name: 'root', uid: 0, gid: 0, root: true },
        { name: 'an unprivileged user', uid: firstFreeUid, gid: firstFreeUid, root: false },
      ]
    : [{ name: 'an unprivileged user', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, root: false }];

const closed = (user: User): User => ({ ...user, name: `${user.name}, in a closed folder`, closed: true });

/** Whose scenes a case runs in: a worker of root has two ways to start a sandbox. */
export const openAndClosed: readonly User[] = users.flatMap((user) => (user.root ? [user, closed(user)] : [user]));

/** For cases of minutes: their attempts are the same in an open folder. */
export const closedIfRoot: readonly User[] = users.map((user) => (user.root ? closed(user) : user));

/** A temporary directory of a user. */
export function makeDirectory(user: User, mode = 0o755): string {
  const directory = mkdtempSync(join(tmpdir(), 'hp-hostile-'));
  chmodSync(directory, mode);
  chownSync(directory, user.uid, user.gid);
  return directory;
}

/** Runs a program of this suite as a user to its end. The last line of its output is the result, as JSON. */
export async function runProgram<Result>(user: User, entry: string, args: string[], env: object): Promise<Result> {
  const child = startAs(user, `tests/hostile/host/${entry}`, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
    cwd: '/',
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${entry} ended with ${code}: ${log}`);
  return JSON.parse(log.trim().split('\n').at(-1) ?? '');
}

/**
 * Starts a program of this suite as a user, through a mount remap when the user cannot reach the project. The child is the program, without
 * a wrapper.
 */
export function startAs(user: User, entry: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const program = [process.execPath, join(projectDir, entry)];
  if (user.root || user.uid === process.getuid?.()) {
    return spawn(process.execPath, [...program.slice(1), ...args], options);
  }
  const { bash, setpriv, unshare } = findHostTools({ bwrapCandidates: [bwrapPath], path: systemPath });
  if (!setpriv || !unshare) throw new Error('setpriv and unshare (util-linux) are needed to become another user');
  const remap = planMountRemap([projectDir, process.execPath], user);
  const drop = [setpriv, `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'];
  if (!remap) return spawn(setpriv, [...drop.slice(1), ...program, ...args], options);
  const show = ['--mount', '--propagation', 'private', '--', bash, '-p', '-c', remapScript, 'remap', remap.mountPoint];
  const moved = [...program.map((path) => remap.hostPath(path)), ...args];
  return spawn(unshare, [...show, ...remap.sources, '--', ...drop, ...moved], options);
}

/** Removes a folder, including mounted trees, unreadable directories and paths over the maximum length, impossible for Node's rm. */
export function removeTree(path: string): void {
  unmountBelow(path);
  execFileSync('chmod', ['-R', 'u+rwX', path]);
  // The writes of a workspace on an overlay lie next to its tree.
  execFileSync('rm', ['-rf', path, `${path}.overlay`]);
}
