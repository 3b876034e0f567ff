import { statSync } from 'node:fs';
import type { Use } from '../bounds/bounds.ts';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import type { Git, GitOptions } from '../host-git/git.ts';
import { findLayout, type Layout } from './layout.ts';

/** A user's repository, and the user that git acts as in it. */
export interface Repository extends Layout {
  as: { uid: number; gid: number } | undefined;
  use: Use;
}

/**
 * On a root host git acts as the owner of the work tree, else of the repository: so it reads nothing that this user could not read, whatever
 * the repository leads to, and leaves no root-owned files in a user's `.git`.
 * @param input.path the source as it was asked for
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

/** Throws when anything on the way into the repository is not what it was when it was checked. Call it when git has read. */
export async function assertUnchanged(deps: Pick<Deps, 'bounds'>, repository: Repository): Promise<void> {
  const now = await findLayout(deps.bounds, repository);
  if (now !== undefined && now.fingerprints.join('\n') === repository.fingerprints.join('\n')) return;
  throw new WorkspaceError('ESOURCEBUSY', `The repository ${repository.common} changed while it was read.`);
}

/**
 * git as the owner of the repository. It enters the directory before it changes its user and then names it by `/proc/self/cwd`, so that
 * folders above it which the owner may not enter (a root home) do not matter; a plain `.` does not do, because git writes refs by
 * absolute path.
 */
export function asOwner(gitDir: string, as: Repository['as']): { at: string[]; options: GitOptions } {
  const at = [`--git-dir=${gitDirName({ common: gitDir, as })}`];
  return { at, options: as === undefined ? {} : { as, cwd: gitDir } };
}

/** What the git of `inside` calls the directory. */
export const gitDirName = ({ common, as }: Pick<Repository, 'common' | 'as'>): string =>
  as !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : common;

/** Runs a command that only reads the repository. What git cannot read is a fault of the repository, which no retry repairs. */
export async function readGit(git: Git, repository: Repository, args: readonly string[], options: GitOptions = {}) {
  const { at, options: as } = asOwner(repository.common, repository.as);
  return git.run([...at, ...args], { ...options, ...as }).catch(rethrowBroken(repository));
}

/**
 * Below the common directory, the place of what a linked work tree has by itself, such as its HEAD; undefined when it is none. git is never
 * started in it: it would go to the common directory by absolute path, and the owner may be kept from entering the folders above.
 */
export const linkedWorkTree = ({ gitDir, common }: Layout): string | undefined =>
  gitDir.startsWith(`${common}/`) ? gitDir.slice(common.length + 1) : undefined;

const transient = /no space left|resource temporarily|too many open files|cannot allocate|out of memory/i;

export function rethrowBroken({ common }: Pick<Repository, 'common'>): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof WorkspaceError) || cause.code !== 'EGITFAILED' || transient.test(cause.message)) throw cause;
    throw new WorkspaceError('ESOURCEBROKEN', `git cannot read ${common}. ${cause.message}`, { cause });
  };
}
