import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { GitSource } from '@holdpoint/contract';
import { errnoOf, WorkspaceError } from '../errors.ts';
import type { Git } from '../host-git/git.ts';
import { plainBoolean, readPlainConfig } from '../source/git/plain-config.ts';
import { gitDirName, linkedWorkTree, listGit, type Repository, readGit } from '../source/git/repository.ts';

interface Input {
  source: GitSource;
  repository: Repository;
  commit: string;
  signal?: AbortSignal | undefined;
}

const newline = 0x0a;
/** Checked objects of a commit. */
const mostObjects = 20_000_000;

/** Refuses a partial clone without all objects of the commit, and a sparse checkout without `include`. */
export async function assertComplete(git: Git, input: Input): Promise<void> {
  if ((await isPartial(git, input)) && (await lacksObjects(git, input))) {
    throw new WorkspaceError(
      'ESOURCEPARTIAL',
      `${input.source.path} is a partial clone and lacks files of ${input.commit}.`,
    );
  }
  if (input.source.include !== undefined || !(await isSparse(git, input))) return;
  throw new WorkspaceError(
    'ESOURCESPARSE',
    `The work tree ${input.source.path} is a sparse checkout. A run starts from the whole commit, so it would get files that are not checked out.`,
  );
}

async function isPartial(git: Git, { repository }: Input): Promise<boolean> {
  const plain = readPlainConfig(repository);
  if (plain !== undefined) return [...plain.keys()].some((name) => partial.test(name));
  const keys = '^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$';
  const args = ['config', '--name-only', '--get-regexp', keys];
  return (await readGit(git, repository, args, { accept: [0, 1] })).code === 0;
}

const partial = /^(?:extensions\.partialclone|remote\..*\.(?:promisor|partialclonefilter))$/;

/** Whether any object of the commit's tree is missing, also outside `include`: git sends a commit as a whole or not at all. */
async function lacksObjects(git: Git, { repository, commit, signal }: Input): Promise<boolean> {
  const walk = [
    'rev-list',
    '--objects',
    '--no-object-names',
    '--missing=print',
    '--end-of-options',
    `${commit}^{tree}`,
  ];
  // git ends with 128 when the tree is missing.
  const root = await readGit(git, repository, ['cat-file', '-e', `${commit}^{tree}`], { accept: [0, 1, 128], signal });
  if (root.code !== 0) return true;
  for await (const rows of listGit(git, repository, walk, { end: newline, most: mostObjects, signal })) {
    if (rows.some((row) => row.startsWith('?'))) return true;
  }
  return false;
}

/** Each linked work tree has its own setting in its own git directory. */
async function isSparse(git: Git, { repository }: Input): Promise<boolean> {
  const own = linkedWorkTree(repository);
  if (own === undefined) {
    const plain = plainBoolean(readPlainConfig(repository), 'core.sparsecheckout');
    if (plain !== undefined) return plain;
  } else if (!isThere(join(repository.common, own, 'config.worktree'))) return false;
  const file = own === undefined ? [] : [`--file=${join(gitDirName(repository), own, 'config.worktree')}`];
  const args = ['config', ...file, '--type=bool', '--get', 'core.sparseCheckout'];
  const { code, stdout } = await readGit(git, repository, args, { accept: [0, 1] });
  return code === 0 && stdout.toString('latin1').trim() === 'true';
}

/** False only where there is certainly no file. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ENOENT';
  }
}
