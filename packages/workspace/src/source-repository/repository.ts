import { statSync } from 'node:fs';
import { isRemote, placeOf } from '@holdpoint/contract';
import type { Use } from '../bounds/bounds.ts';
import { type Deps, WorkspaceError, type WorkspaceRecord } from '../deps.ts';
import type { Git, GitOptions } from '../host-git/git.ts';
import { type RowsOptions, readRows } from '../host-git/read-rows.ts';
import type { RemoteAccess } from '../remote/port.ts';
import { findLayout, type Layout } from './layout.ts';
import { type InfoWatch, watchInfo } from './watch-info.ts';

/** A user's repository, and the user that git runs as in it. */
export interface Repository extends Layout {
  /** Undefined: as this process. */
  as: { uid: number; gid: number } | undefined;
  use: Use;
  /** What happens in the folders `objects/info` since the layout was read. */
  watch?: InfoWatch;
  /** Set where it stands for a remote repository that a publish goes to. It is then empty itself. */
  remote?: RemoteTarget;
}

/** A remote that a publish goes to, as it was when it was asked. */
export interface RemoteTarget {
  access: RemoteAccess;
  /** Full names, and their commits. */
  branches: ReadonlyMap<string, string>;
  /** Has the tip of the branch, with history; undefined when that is where the run began. */
  tip: Repository | undefined;
}

/**
 * On a root host git runs as the owner of the work tree, else of the repository. So it reads only what that user may read, wherever the
 * repository's links lead, and leaves no root-owned files in a user's `.git`.
 * @param input.path the path in the request
 */
export async function openRepository(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  input: { path: string; gitDir: string; use: Use },
): Promise<Repository | undefined> {
  const layout = await findLayout(deps.bounds, input);
  if (layout === undefined) return undefined;
  const owners = [input.path, layout.gitDir, layout.common].map((path) => statSync(path, { throwIfNoEntry: false }));
  const owner = deps.isRoot ? owners.find((status) => status !== undefined && status.uid !== 0) : undefined;
  return { ...layout, as: owner && { uid: owner.uid, gid: owner.gid }, use: input.use };
}

/** Throws when the layout of the repository changed since it was checked. Call it after git has read. */
export async function assertUnchanged(deps: Pick<Deps, 'bounds'>, repository: Repository): Promise<void> {
  // Only this process's own repositories, of remotes, have none.
  if (repository.fingerprints.length === 0) return;
  const now = await findLayout(deps.bounds, repository);
  if (now !== undefined && isSameLayout(now, repository) && (await hasSameInfo(now, repository))) return;
  throw new WorkspaceError('ESOURCEBUSY', `The repository ${repository.common} changed during the read.`);
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');

const isSameLayout = (now: Layout, then: Layout): boolean => isSame(now.fingerprints, then.fingerprints);

/** An alternates file that is added and removed again changes the time of its folder, as `git gc` does. A watch knows which of them it was. */
const hasSameInfo = async (now: Layout, { infoTimes, watch }: Repository): Promise<boolean> =>
  isSame(now.infoTimes, infoTimes) || (watch !== undefined && (await watch.sawUpkeepAlone()));

/**
 * Opens a repository that `git gc` may tidy up during the read. The caller ends its watch.
 */
export async function openWatched(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  input: { path: string; gitDir: string; use: Use },
): Promise<Repository | undefined> {
  const first = await openRepository(deps, input);
  if (first === undefined) return undefined;
  const watch = watchInfo(first.info);
  try {
    // Looked at again, because the watch knows nothing of what was before it.
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
 * Arguments and options that run git as the owner of the repository. git enters the directory before it changes its user and then names it
 * `/proc/self/cwd`, so the owner need not be able to enter the folders above (a root home). A plain `.` fails, because git writes refs by
 * absolute path.
 */
export function asOwner(repository: Owned): { at: string[]; options: GitOptions } {
  const { common, as } = repository;
  return { at: [`--git-dir=${gitDirName(repository)}`], options: as === undefined ? {} : { as, cwd: common } };
}

/** The name that git uses for the directory when it runs with `asOwner`. */
export const gitDirName = ({ common, as }: Owned): string =>
  as !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : common;

/** Runs a command that only reads the repository. When git cannot read it, the repository is broken and a retry does not help. */
export async function readGit(git: Git, repository: Repository, args: readonly string[], options: GitOptions = {}) {
  const { at, options: as } = asOwner(repository);
  return git.run([...at, ...args], { maxBytes: mostAnswered, ...options, ...as }).catch(rethrowBroken(repository));
}

/** What git answers in one piece, such as a setting or an id, is short. Bytes. */
const mostAnswered = 1024 * 1024;

/** Like `readGit`, for what grows with the repository: some rows at a time, see `readRows`. */
export async function* listGit(git: Git, repository: Repository, args: readonly string[], options: RowsOptions = {}) {
  const { at, options: as } = asOwner(repository);
  try {
    yield* readRows(git, [...at, ...args], { ...options, ...as });
  } catch (error) {
    rethrowBroken(repository)(error);
  }
}

/**
 * Path of a linked work tree's own files, such as its HEAD, below the common directory; undefined for a main work tree. git never starts
 * there: it would open the common directory by absolute path, and the owner may not be allowed to enter the folders above.
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

/** The git source of a run, for its ignore rules and attributes; undefined for other sources, and when it is gone or out of bounds. */
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
