import { type FSWatcher, statfsSync, statSync, watch } from 'node:fs';
import { setImmediate as afterPolling } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { isRemote, placeOf } from '@holdpoint/contract';
import type { Use } from '../../bounds/bounds.ts';
import { type Deps, WorkspaceError, type WorkspaceRecord } from '../../deps.ts';
import type { Git, GitOptions } from '../../host-git/git.ts';
import { type RowsOptions, readObjects, readRows, type SmallQuery } from '../../host-git/stream-blobs.ts';
import type { RemoteAccess } from '../../port/remote-git.ts';
import { findLayout, type Layout } from './layout.ts';

/** Folders `objects/info` of a repository, and their events since. */
interface InfoWatch extends Disposable {
  /** Whether no file with a pointer for git to another place was there, not even for a moment. False as well when the answer is unknown. */
  sawUpkeepAlone(): Promise<boolean>;
}

/** Files written by `git gc`, `repack` and `commit-graph`. They decide nothing about the places of git's reads. */
const upkeep = /^(packs(_\w{6})?|commit-graph(\.lock)?|commit-graphs)$/;

/** The file systems of Linux where this host sees every change: another host may change a network file system. */
const local = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

/** The kernel drops events above 16,384 in the queue, and libuv hides the loss. So many at once count as a change in all folders. */
const mostAtOnce = 4000;
let atOnce = 0;
let floods = 0;
/** How many watches a folder has: each of them gets every event. */
const watched = new Map<string, number>();

function forgetBurst(): void {
  atOnce = 0;
}

function countEvent(folder: string): void {
  if (atOnce === 0) afterPolling(forgetBurst).unref();
  atOnce += 1 / (watched.get(folder) ?? 1);
  if (atOnce > mostAtOnce) floods += 1;
}

/** Begins to watch before the folders are looked at. */
function watchInfo(folders: readonly string[]): InfoWatch {
  const from = floods;
  const watchers: FSWatcher[] = [];
  let isSound = process.platform === 'linux';
  const doubt = (): void => {
    isSound = false;
  };
  try {
    for (const folder of folders) {
      if (!local.has(statfsSync(folder).type)) doubt();
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        countEvent(folder);
        if (name === null || !upkeep.test(name)) doubt();
      });
      watchers.push(watcher.on('error', doubt));
      watched.set(folder, (watched.get(folder) ?? 0) + 1);
      watcher.once('close', () => leave(folder));
    }
  } catch {
    doubt();
  }
  return {
    async sawUpkeepAlone() {
      // Events of the past wait in the kernel until the event loop polls.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      return isSound && floods === from;
    },
    [Symbol.dispose]: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

function leave(folder: string): void {
  const left = (watched.get(folder) ?? 1) - 1;
  if (left === 0) watched.delete(folder);
  else watched.set(folder, left);
}

/** A user's repository, and the user of git inside. */
export interface Repository extends Layout {
  /** Undefined: as this process. */
  as: { uid: number; gid: number } | undefined;
  use: Use;
  /** The watch over the folders `objects/info` since the read of the layout. */
  watch?: InfoWatch;
  /** Set for a stand-in of a publish's remote repository. The stand-in is empty. */
  remote?: RemoteTarget;
}

/** A publish's remote target, in its state at the time of the question. */
export interface RemoteTarget {
  access: RemoteAccess;
  /** Full names, and their commits. */
  branches: ReadonlyMap<string, string>;
  /** Has the tip of the branch, with history; undefined when the tip is the run's start. */
  tip: Repository | undefined;
}

/**
 * On a root host git runs as the owner of the work tree, else of the repository. So git reads only files readable for this user, wherever the
 * repository's links lead, and leaves no root-owned files in a user's `.git`.
 * @param input.path the path in the request
 */
async function openRepository(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  input: { path: string; gitDir: string; use: Use },
): Promise<Repository | undefined> {
  const layout = await findLayout(deps.bounds, input);
  if (layout === undefined) return undefined;
  const owners = [input.path, layout.gitDir, layout.common].map((path) => statSync(path, { throwIfNoEntry: false }));
  const owner = deps.isRoot ? owners.find((status) => status !== undefined && status.uid !== 0) : undefined;
  return { ...layout, as: owner && { uid: owner.uid, gid: owner.gid }, use: input.use };
}

/** Throws when the layout of the repository changed since its check. Call after git's read. */
export async function assertUnchanged(deps: Pick<Deps, 'bounds'>, repository: Repository): Promise<void> {
  // Only this process's own repositories, of remotes, have none.
  if (repository.fingerprints.length === 0) return;
  const now = await findLayout(deps.bounds, repository);
  if (now !== undefined && isSameLayout(now, repository) && (await hasSameInfo(now, repository))) return;
  throw new WorkspaceError('ESOURCEBUSY', `The repository ${repository.common} changed during the read.`);
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');

const isSameLayout = (now: Layout, then: Layout): boolean => isSame(now.fingerprints, then.fingerprints);

/** An alternates file added and removed again changes the time of its folder, and so does `git gc`. A watch can separate the two cases. */
const hasSameInfo = async (now: Layout, { infoTimes, watch }: Repository): Promise<boolean> =>
  isSame(now.infoTimes, infoTimes) || (watch !== undefined && (await watch.sawUpkeepAlone()));

/** Opens a repository with a possible `git gc` during the read. The caller ends its watch. */
export async function openWatched(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  input: { path: string; gitDir: string; use: Use },
): Promise<Repository | undefined> {
  const first = await openRepository(deps, input);
  if (first === undefined) return undefined;
  const watch = watchInfo(first.info);
  try {
    // Read again, because the watch knows no earlier event.
    const opened = await openRepository(deps, input);
    if (opened !== undefined && isSame(opened.info, first.info)) return { ...opened, watch };
    watch[Symbol.dispose]();
    return opened;
  } catch (error) {
    watch[Symbol.dispose]();
    throw error;
  }
}

type Owned = Pick<Repository, 'common' | 'as'>;

/**
 * Arguments and options to run git as the owner of the repository. git enters the directory before changing its user and then names the
 * directory `/proc/self/cwd`, so the owner need not be able to enter the folders above (a root home). A plain `.` fails, because git writes
 * refs by absolute path.
 */
export function asOwner(repository: Owned): { at: string[]; options: GitOptions } {
  const { common, as } = repository;
  return { at: [`--git-dir=${gitDirName(repository)}`], options: as === undefined ? {} : { as, cwd: common } };
}

/** git's name for the directory when run with `asOwner`. */
export const gitDirName = ({ common, as }: Owned): string =>
  as !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : common;

/** Runs a reading command in the repository. When git cannot read the repository, the repository is broken and a retry does not help. */
export async function readGit(git: Git, repository: Repository, args: readonly string[], options: GitOptions = {}) {
  const { at, options: as } = asOwner(repository);
  return git.run([...at, ...args], { maxBytes: mostAnswered, ...options, ...as }).catch(rethrowBroken(repository));
}

/** Objects of the repository from the kept program of the operation. @returns false when the operation has none */
export async function readKept(
  git: Git,
  repository: Repository,
  query: Pick<SmallQuery, 'names' | 'type' | 'mostBytes' | 'signal'>,
  take: (index: number, content: Buffer, id: string) => void,
): Promise<boolean> {
  if (git.objects === undefined) return false;
  const { options } = asOwner(repository);
  await readObjects(git.objects, { ...query, gitDir: gitDirName(repository), options }, take);
  return true;
}

/** git's single answers, for example a setting or an id, are short. Bytes. */
const mostAnswered = 1024 * 1024;

/** Like `readGit`, for output growing with the repository: some rows at a time, see `readRows`. */
export async function* listGit(git: Git, repository: Repository, args: readonly string[], options: RowsOptions = {}) {
  const { at, options: as } = asOwner(repository);
  try {
    yield* readRows(git, [...at, ...args], { ...options, ...as });
  } catch (error) {
    rethrowBroken(repository)(error);
  }
}

/**
 * Path of a linked work tree's own files, for example its HEAD, below the common directory; undefined for a main work tree. git never
 * starts there: git would open the common directory by absolute path, and the owner may not be allowed to enter the folders above.
 */
export const linkedWorkTree = ({ gitDir, common }: Layout): string | undefined =>
  gitDir.startsWith(`${common}/`) ? gitDir.slice(common.length + 1) : undefined;

const transient = /no space left|resource temporarily|too many open files|cannot allocate|out of memory/i;

export function rethrowBroken({ common }: Pick<Repository, 'common'>): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof WorkspaceError && cause.code === 'EDIFFTOOLARGE') {
      throw new WorkspaceError('ESOURCETOOLARGE', `git read too much of ${common}. ${cause.message}`, { cause });
    }
    if (!(cause instanceof WorkspaceError) || cause.code !== 'EGITFAILED' || transient.test(cause.message)) throw cause;
    throw new WorkspaceError('ESOURCEBROKEN', `git cannot read ${common}. ${cause.message}`, { cause });
  };
}

/** The git source of a run, for its ignore rules and attributes; undefined for other sources, and for a source gone or out of bounds. */
export async function openOrigin(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  { origin, source }: WorkspaceRecord,
): Promise<Repository | undefined> {
  if (source.type !== 'git' || isRemote(source)) return undefined;
  return openRepository(deps, { path: placeOf(source), gitDir: origin ?? '', use: 'source' }).catch(
    (error: unknown) => {
      if (error instanceof WorkspaceError) return undefined;
      throw error;
    },
  );
}

/** A found source: its real path, and the commit of a git source. */
export type FoundSource =
  | { type: 'empty' }
  | { type: 'directory'; path: string }
  | { type: 'archive'; path: string }
  /** `content`: the commit object, when it was read already. */
  | { type: 'git'; repository: Repository; commit: string; content?: Buffer };
