import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRemote, placeOf } from '@holdpoint/contract';
import { type Deps, errnoOf, type RunFolder, WorkspaceError, type WorkspaceRecord } from '../../deps.ts';
import type { GitOptions } from '../../host-git/git.ts';
import { openRemoteTarget } from '../../remote/remote-target.ts';
import { pipePack } from '../../source-repository/pipe-pack.ts';
import { asOwner, openRepository, type Repository } from '../../source-repository/repository.ts';

/** Opens the user's repository, or learns the state of a remote one; undefined when it is gone or unreadable. Throws when any part of it is out of bounds. */
export async function openSource(
  deps: Deps,
  { record, ...input }: { record: WorkspaceRecord; branch: string; runId: string },
): Promise<Repository | undefined> {
  const { origin, source } = record;
  if (isRemote(source)) return openRemoteTarget(deps, { ...input, source, record });
  const path = source.type === 'git' ? placeOf(source) : '';
  const repository = await openRepository(deps, { path, gitDir: origin ?? '', use: 'publish' });
  if (repository === undefined) return undefined;
  const { at, options } = asOwner(repository);
  const found = await deps.git.run([...at, 'rev-parse', '--git-dir'], { ...options, accept: [0, 128] });
  return found.code === 0 ? repository : undefined;
}

/** The commit of a ref. Not by `rev-parse`, which finds `refs/heads/refs/heads/x` when `refs/heads/x` is missing. */
export async function readBranch(deps: Deps, source: Repository, ref: string): Promise<string | undefined> {
  if (source.remote !== undefined) return source.remote.branches.get(ref);
  const { at, options } = asOwner(source);
  // A pattern names the refs below it, too. git sorts them behind it.
  const { stdout } = await deps.git.run(
    [...at, 'for-each-ref', '--count=1', '--format=%(objectname) %(refname)', ref],
    options,
  );
  const rows = stdout.toString('utf8').split('\n');
  return rows.find((row) => row.slice(41) === ref)?.slice(0, 40);
}

export async function hasCommit(deps: Deps, source: Repository, commit: string): Promise<boolean> {
  // The host says so itself when a branch is pushed.
  if (source.remote !== undefined) return true;
  const { at, options } = asOwner(source);
  const args = [...at, 'cat-file', '-e', `${commit}^{commit}`];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** A ref that blocks a new one: refs are files and folders, so `a` blocks `a/b` and `a/b` blocks `a`. */
export async function refInTheWay(deps: Deps, source: Repository, ref: string): Promise<string | undefined> {
  const names = ref.split('/');
  for (let depth = 3; depth < names.length; depth++) {
    const above = names.slice(0, depth).join('/');
    if ((await readBranch(deps, source, above)) !== undefined) return above;
  }
  if (source.remote !== undefined) return [...source.remote.branches.keys()].find((name) => name.startsWith(`${ref}/`));
  const { at, options } = asOwner(source);
  const { stdout } = await deps.git.run(
    [...at, 'for-each-ref', '--count=1', '--format=%(refname)', `${ref}/`],
    options,
  );
  return stdout.toString('utf8').trim() || undefined;
}

/** Whether a branch contains a commit. */
export async function isMerged(deps: Deps, source: Repository, commit: string, tip: string): Promise<boolean> {
  if (commit === tip) return true;
  const { at, options } = asOwner(source.remote?.tip ?? source);
  const args = [...at, 'merge-base', '--is-ancestor', commit, tip];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** Whether a work tree has the branch checked out. If the branch moved, its index would look like a revert. */
export async function isCheckedOut(deps: Deps, source: Repository, branch: string): Promise<boolean> {
  if (source.remote !== undefined) return false;
  const { at, options } = asOwner(source);
  // A branch can be a symbolic ref; a write goes to its target.
  const written = (await symbolicRef(deps, at, options, branch)) ?? branch;
  const bare = await deps.git.run([...at, 'config', '--type=bool', '--get', 'core.bare'], {
    ...options,
    accept: [0, 1],
  });
  const isBare = bare.stdout.toString('latin1').trim() === 'true';
  // Not by `worktree list`: it opens every work tree by absolute path, and the owner may not be allowed to enter the folders above.
  const linked = workTrees(source.common);
  const names = [...(isBare ? [] : ['HEAD']), ...linked.map((name) => `worktrees/${name}/HEAD`)];
  for (const name of names) if ((await symbolicRef(deps, at, options, name)) === written) return true;
  return false;
}

function workTrees(gitDir: string): string[] {
  try {
    return readdirSync(join(gitDir, 'worktrees'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The target of a symbolic ref. */
async function symbolicRef(
  deps: Deps,
  at: readonly string[],
  options: GitOptions,
  name: string,
): Promise<string | undefined> {
  const found = await deps.git.run([...at, 'symbolic-ref', '--quiet', name], { ...options, accept: [0, 1, 128] });
  return found.code === 0 ? found.stdout.toString('utf8').trim() : undefined;
}

/** A fetch could also refuse the shallow shadow repository, or copy its shallowness. */
export async function sendObjects(
  deps: Deps,
  input: { folder: RunFolder; source: Repository; commit: string; has: string },
): Promise<void> {
  const { at, options } = asOwner(input.source);
  await pipePack(deps.git, {
    pack: { args: [`--git-dir=${input.folder.shadow}`, 'pack-objects', '--revs', '--stdout', '-q'] },
    index: { args: [...at, 'index-pack', '--stdin', '--strict'], options },
    revs: `${input.commit}\n^${input.has}\n`,
  }).catch(refused);
}

/** `index-pack --strict` refuses some content, such as a `.gitmodules` with commands in it. */
function refused(cause: unknown): never {
  if (cause instanceof WorkspaceError && /fsck error|in strict mode/i.test(cause.message)) {
    throw new WorkspaceError('EGITREFUSED', `The repository refuses the change: ${cause.message}`, { cause });
  }
  throw cause;
}

/**
 * Moves a branch by compare-and-set.
 * @param input.from null: the branch must not exist
 * @returns 'moved' when the branch was not at `from`
 */
export async function moveBranch(
  deps: Deps,
  source: Repository,
  input: { branch: string; from: string | null; commit: string },
): Promise<'moved' | undefined> {
  try {
    await updateRef(deps, source, ['--create-reflog', input.branch, input.commit, input.from ?? '0'.repeat(40)]);
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkspaceError) || error.code !== 'EGITFAILED') throw error;
    const now = await readBranch(deps, source, input.branch);
    if (now === input.commit) return undefined;
    if (now !== (input.from ?? undefined)) return 'moved';
    throw error;
  }
}

/** A ref that keeps the new objects of a run in the user's repository until the branch does. */
export const ownRef = (runId: string): string => `refs/holdpoint/${runId}/out`;

/** A ref that cannot be removed is harmless: the discard of the run tries again. */
export async function dropOwnRef(deps: Deps, source: Repository, runId: string): Promise<void> {
  const { at, options } = asOwner(source);
  const ref = ownRef(runId);
  try {
    if ((await readBranch(deps, source, ref)) === undefined) return;
    await deps.git.run([...at, 'update-ref', '--no-deref', '-d', ref], options);
  } catch (error) {
    deps.logger.warn({ run_id: runId, ref, err: error }, 'could not remove a ref in the source repository');
  }
}

export async function updateRef(deps: Deps, source: Repository, args: readonly string[]): Promise<void> {
  const { at, options } = asOwner(source);
  await deps.git.run([...at, 'update-ref', '-m', 'holdpoint: publish', ...args], options);
}
