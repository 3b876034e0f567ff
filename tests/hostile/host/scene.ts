import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { standOnEmptyLayer } from '@holdpoint/workspace/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { until } from '../../harness/index.ts';
import { exited } from './ends.ts';
import { namesWith, picture, systemPicture } from './outside.ts';
import { argumentsOf, descendants, descriptorsOf, processesIn } from './process-table.ts';
import { firstFreeUid, removeTree, type User } from './users.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** A worker on this host, with its protected surroundings. */
export interface Scene extends AsyncDisposable {
  user: User;
  worker: Worker;
  /** Accessible for all users: the sandbox, not permissions, protects the directory; below a closed folder for `user.closed`. */
  directory: string;
  stateDir: string;
  /** Writable for all users, but out of reach for every command. */
  outside: string;
  canary: string;
  /** Path of bubblewrap. The program belongs to an unprivileged worker's user, as after the set-up. */
  bwrap: string;
  /** The workspace of another run. */
  neighbour: WorkspaceMount;
  /** In the worker's environment, in a file, and in the arguments of a process. */
  secret: string;
  /** For names forbidden on the host. */
  word: string;
  /** A process outside with the user of the commands in `neighbour`. With an unprivileged worker all commands have this user. */
  bystander: number;
  makeWorkspace(): WorkspaceMount;
  startWorker(): Promise<Worker>;
  /** Fails unless everything outside is unchanged, commands left no files, and the worker works. */
  expectIntact(): Promise<void>;
}

/** Text with possible names of the scene's parts. */
export type InScene = string | ((scene: Scene) => string);
export const inScene = (text: InScene, scene: Scene): string => (typeof text === 'string' ? text : text(scene));

/** A scene for the tests of a `describe`, and their shared workspace. Both are empty until the first test. */
export function useScene(user: User, options?: SceneOptions) {
  const [scene, workspace] = [{} as Scene, {} as WorkspaceMount];
  beforeAll(async () => {
    Object.assign(scene, await openScene(user, options));
    Object.assign(workspace, scene.makeWorkspace());
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  return { scene, workspace };
}

/**
 * `spares: 0` for a test with a count of a workspace's processes after a command: a waiting sandbox for the next command has processes,
 * too.
 */
type SceneOptions = Pick<WorkerOptions, 'limits' | 'spares'>;

export async function openScene(user: User, options: SceneOptions = {}): Promise<Scene> {
  const word = randomBytes(8).toString('hex');
  const secret = `swordfish-${word}`;
  const top = mkdtempSync(join(tmpdir(), 'holdpoint-hostile-'));
  chmodSync(top, 0o755);
  const directory = user.closed ? makeClosed(top) : top;
  const make = (name: string, mode: number, owner: { uid: number; gid: number } = user) => {
    const path = join(directory, name);
    mkdirSync(path, { mode });
    chmodSync(path, mode);
    chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const stateDir = make('state', 0o700);
  const home = make('home', 0o700);
  const outside = make('outside', 0o777);
  const canary = join(outside, 'canary');
  writeFileSync(canary, 'untouched');
  chmodSync(canary, 0o666);
  const bwrap = user.root ? bwrapPath : join(make('programs', 0o755), 'bwrap');
  if (!user.root) {
    copyFileSync(bwrapPath, bwrap);
    chmodSync(bwrap, 0o755);
    chownSync(bwrap, user.uid, user.gid);
  }
  const workspaces: WorkspaceMount[] = [];
  const makeWorkspace = (): WorkspaceMount => {
    const number = workspaces.length + 1;
    const uid = user.root ? firstFreeUid + number : user.uid;
    const owner = { uid, gid: user.root ? uid : user.gid };
    const workspace = { id: `run_hostile_${number}`, path: make(`workspace-${number}`, 0o700, owner), ...owner };
    if (user.root && process.env.HOLDPOINT_TEST_LAYERS === 'always') standOnEmptyLayer(workspace.path, owner);
    workspaces.push(workspace);
    return workspace;
  };
  const neighbour = makeWorkspace();
  const secretFile = join(neighbour.path, 'api-key');
  writeFileSync(secretFile, secret);
  chownSync(secretFile, neighbour.uid, neighbour.gid);
  const bystander = startBystander(secret, neighbour);
  const leaked = openSync(canary, 'r+');
  const start = () =>
    startWorker({
      ...{ user, stateDir, home, bwrap, leaked, env: { HOLDPOINT_API_KEY: secret, ANTHROPIC_API_KEY: secret } },
      ...options,
    });
  const clear = () => {
    closeSync(leaked);
    bystander.kill('SIGKILL');
    removeTree(top);
  };
  const worker = await start().catch((error: unknown) => {
    clear();
    throw error;
  });
  const calm = makeWorkspace();
  await worker.run(calm, 'true');
  if (user.closed) await until('commands start in a view', () => viewsOf(worker).length > 0);
  const look = () => ({
    ...{ outside: picture(outside), neighbour: picture(neighbour.path), system: systemPicture() },
    bwrap: picture(bwrap),
  });
  const before = look();
  const others = descriptorsIn(worker).others.length;
  return {
    ...{ user, worker, directory, stateDir, outside, canary, bwrap, neighbour, secret, word, makeWorkspace },
    bystander: bystander.pid ?? 0,
    startWorker: start,
    async expectIntact() {
      expect(look()).toEqual(before);
      expect(namesWith(word)).toEqual([]);
      expect(bystander.exitCode ?? bystander.signalCode, 'the bystander lives').toBeNull();
      expect(worker.alive(), 'the worker lives').toBe(true);
      const { end, stdout } = await worker.run(calm, 'echo well');
      expect({ end, text: stdout.text }).toEqual({ end: exited(0), text: 'well\n' });
      const now = descriptorsIn(worker);
      expect(now.others.length, now.others.join(', ')).toBeLessThan(others + 8);
      expect(now.pipes, 'pipes of the worker').toBeLessThanOrEqual(now.mostPipes);
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      clear();
      expect(workspaces.flatMap(({ path }) => processesIn(path))).toEqual([]);
    },
  };
}

/** A folder open to every user, inside a folder open to root alone. */
export function makeClosed(top: string): string {
  const directory = join(top, 'closed', 'd');
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  chmodSync(join(top, 'closed'), 0o700);
  return directory;
}

/** Paths of the mount namespaces kept by the starter of a worker. */
export function viewsOf({ pid }: Worker): string[] {
  const starters = descendants(pid).filter((one) => argumentsOf(one).includes('/starter/main.mjs'));
  return starters.flatMap((one) =>
    [...descriptorsOf(one)].filter(([, link]) => link.startsWith('mnt:')).map(([fd]) => `/proc/${one}/fd/${fd}`),
  );
}

/** The pool refills with 24 FIFOs below 8. */
const poolPipes = 31;
/** Ends kept by the worker per sandbox, and ends closed at the start of the sandbox. */
const [keptPipes, passedPipes] = [5, 8];

/** FIFOs, the permitted number of open FIFOs, and everything else except for the control group files of a set-up. */
function descriptorsIn({ pid }: Worker): { pipes: number; mostPipes: number; others: string[] } {
  // In a view, the name is a path.
  const sandboxes = descendants(pid).filter((one) => /^(\S*\/)?bwrap\0/.test(argumentsOf(one))).length;
  // A descriptor without a link was closed during the read of the list.
  const open = [...descriptorsOf(pid).values()].filter((link) => link !== '');
  const links = open.filter((link) => !link.startsWith('/sys/fs/cgroup/'));
  // FIFOs opened by the pool at this moment have a name.
  const others = links.filter((link) => !/\/holdpoint-stdio-[\w-]+\/\d+( \(deleted\))?$/.test(link));
  // The spares of two workspaces may be in their set-up, and have no process yet.
  const mostPipes = poolPipes + keptPipes * (sandboxes + 2) + passedPipes * 2;
  return { pipes: links.length - others.length, mostPipes, others };
}

/** Its first argument is the secret. Other users see arguments on a host, but must not see them inside. */
const startBystander = (secret: string, { uid, gid }: { uid: number; gid: number }): ChildProcess =>
  spawn('/bin/bash', ['-c', 'while read -r line; do :; done', secret], {
    stdio: ['pipe', 'ignore', 'ignore'],
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
