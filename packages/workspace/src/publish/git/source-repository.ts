import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../../deps.ts';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { bigFileFlags, type GitOptions } from '../../host-git/git.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';
import { inside as enter, openRepository, type Repository } from '../../source-repository/repository.ts';

/** The user's repository, and the user that git acts as in it. */
export interface SourceRepository {
  /** The one that all work trees share, which has the branches. */
  gitDir: string;
  as: Repository['as'];
  repository: Repository;
}

/** Undefined when it is gone, or git cannot read it any more. Throws when any part of it is out of bounds by now. */
export async function openSource(
  deps: Pick<Deps, 'git' | 'isRoot' | 'bounds'>,
  { origin, source }: WorkspaceRecord,
): Promise<SourceRepository | undefined> {
  const path = source.type === 'git' ? source.path : '';
  const repository = await openRepository(deps, { path, gitDir: origin ?? '', use: 'publish' });
  if (repository === undefined) return undefined;
  const { at, options } = inside({ gitDir: repository.common, as: repository.as });
  const found = await deps.git.run([...at, 'rev-parse', '--git-dir'], { ...options, accept: [0, 128] });
  return found.code === 0 ? { gitDir: repository.common, as: repository.as, repository } : undefined;
}

const inside = ({ gitDir, as }: Pick<SourceRepository, 'gitDir' | 'as'>) => enter(gitDir, as);

/** The commit that a ref is at. Not by `rev-parse`, which finds `refs/heads/refs/heads/x` when there is no `refs/heads/x`. */
export async function readBranch(deps: Deps, source: SourceRepository, ref: string): Promise<string | undefined> {
  const { at, options } = inside(source);
  const { stdout } = await deps.git.run([...at, 'for-each-ref', '--format=%(objectname) %(refname)', ref], options);
  const rows = stdout.toString('utf8').split('\n');
  return rows.find((row) => row.slice(41) === ref)?.slice(0, 40);
}

export async function hasCommit(deps: Deps, source: SourceRepository, commit: string): Promise<boolean> {
  const { at, options } = inside(source);
  const args = [...at, 'cat-file', '-e', `${commit}^{commit}`];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** A ref that keeps a new one from being made: refs are files and folders, and `a` stands in the way of `a/b`, as `a/b` does of `a`. */
export async function refInTheWay(deps: Deps, source: SourceRepository, ref: string): Promise<string | undefined> {
  const names = ref.split('/');
  for (let depth = 3; depth < names.length; depth++) {
    const above = names.slice(0, depth).join('/');
    if ((await readBranch(deps, source, above)) !== undefined) return above;
  }
  const { at, options } = inside(source);
  const { stdout } = await deps.git.run(
    [...at, 'for-each-ref', '--count=1', '--format=%(refname)', `${ref}/`],
    options,
  );
  return stdout.toString('utf8').trim() || undefined;
}

/** Whether a branch has a commit in its past, or is at it. */
export async function isMerged(deps: Deps, source: SourceRepository, commit: string, tip: string): Promise<boolean> {
  if (commit === tip) return true;
  const { at, options } = inside(source);
  const args = [...at, 'merge-base', '--is-ancestor', commit, tip];
  return (await deps.git.run(args, { ...options, accept: [0, 1, 128] })).code === 0;
}

/** Whether some work tree of the repository is at a branch: moved under it, its index would look like a revert. */
export async function isCheckedOut(deps: Deps, source: SourceRepository, branch: string): Promise<boolean> {
  const { at, options } = inside(source);
  // A branch can be another name for one; writing to it writes to that.
  const written = (await symbolicRef(deps, at, options, branch)) ?? branch;
  const bare = await deps.git.run([...at, 'config', '--type=bool', '--get', 'core.bare'], {
    ...options,
    accept: [0, 1],
  });
  const isBare = bare.stdout.toString('latin1').trim() === 'true';
  // Not by `worktree list`, which looks for every work tree by absolute path: the owner may be kept from entering the folders above.
  const linked = workTrees(source.gitDir);
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

/** The ref that another one stands for. */
async function symbolicRef(
  deps: Deps,
  at: readonly string[],
  options: GitOptions,
  name: string,
): Promise<string | undefined> {
  const found = await deps.git.run([...at, 'symbolic-ref', '--quiet', name], { ...options, accept: [0, 1, 128] });
  return found.code === 0 ? found.stdout.toString('utf8').trim() : undefined;
}

/**
 * Objects go through a pipe (`pack-objects` here, `index-pack` there) and not by `fetch`: the writing half runs as the owner of the
 * repository, who cannot read the data directory. A shallow shadow repository, which a fetch might refuse or spread, does not matter to
 * a pipe either.
 */
export async function sendObjects(
  deps: Deps,
  input: { folder: RunFolder; source: SourceRepository; commit: string; has: string },
): Promise<void> {
  const from = `--git-dir=${input.folder.shadow}`;
  const pack = deps.git.stream([...bigFileFlags, from, 'pack-objects', '--revs', '--stdout', '-q']);
  pack.stdin.end(`${input.commit}\n^${input.has}\n`);
  const { at, options } = inside(input.source);
  const index = deps.git.stream([...bigFileFlags, ...at, 'index-pack', '--stdin', '--strict'], options);
  index.stdin.on('error', () => {});
  index.stdout.resume();
  pack.stdout.pipe(index.stdin);
  try {
    // The reader's own complaint says more than the broken pipe of the writer.
    await index.done.catch(refused);
    await pack.done;
  } finally {
    // Whichever is left would wait for the other for ever.
    pack.kill();
    index.kill();
  }
}

/** git refuses some content in the object database, such as a `.gitmodules` with commands in it. */
function refused(cause: unknown): never {
  if (cause instanceof WorkspaceError && /fsck error|in strict mode/i.test(cause.message)) {
    throw new WorkspaceError('EGITREFUSED', `The repository refuses the change: ${cause.message}`, { cause });
  }
  throw cause;
}

/**
 * Moves a branch, if it is still where it is expected.
 * @param input.from null: it must not exist
 * @returns where the branch is, when that is not where it should be
 */
export async function moveBranch(
  deps: Deps,
  source: SourceRepository,
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

/** A ref that keeps a run's new objects in the user's repository until its branch does. */
export const ownRef = (runId: string): string => `refs/holdpoint/${runId}/out`;

/** Removes it, if it is there. One that cannot be removed does no harm and fails nothing: it is tried again when the run is discarded. */
export async function dropOwnRef(deps: Deps, source: SourceRepository, runId: string): Promise<void> {
  const { at, options } = inside(source);
  const ref = ownRef(runId);
  try {
    if ((await readBranch(deps, source, ref)) === undefined) return;
    await deps.git.run([...at, 'update-ref', '--no-deref', '-d', ref], options);
  } catch (error) {
    deps.logger.warn({ runId, ref, err: error }, 'a ref in the source repository could not be removed');
  }
}

export async function updateRef(deps: Deps, source: SourceRepository, args: readonly string[]): Promise<void> {
  const { at, options } = inside(source);
  await deps.git.run([...at, 'update-ref', '-m', 'holdpoint: publish', ...args], options);
}
