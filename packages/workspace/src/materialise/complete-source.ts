import { WorkspaceError } from '../errors.ts';
import type { Git } from '../host-git/git.ts';
import type { Source } from '../port.ts';

interface Input {
  source: Extract<Source, { type: 'git' }>;
  gitDir: string;
  commit: string;
}

/** Refuses a repository that has less than the commit, and a work tree that shows less of it than a run would get. */
export async function assertComplete(git: Git, input: Input): Promise<void> {
  if ((await isPartial(git, input)) && (await lacksObjects(git, input))) {
    throw new WorkspaceError(
      'ESOURCEPARTIAL',
      `${input.source.path} is a partial clone, and does not have every file of ${input.commit}.`,
    );
  }
  if (input.source.include !== undefined || !(await isSparse(git, input))) return;
  throw new WorkspaceError(
    'ESOURCESPARSE',
    `The work tree ${input.source.path} is a sparse checkout. A run begins with the whole commit, so it would get files that are not checked out.`,
  );
}

async function isPartial(git: Git, { gitDir }: Input): Promise<boolean> {
  const keys = '^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$';
  const args = [`--git-dir=${gitDir}`, 'config', '--name-only', '--get-regexp', keys];
  return (await git.run(args, { accept: [0, 1] })).code === 0;
}

/** Whether any object of the commit's tree is missing, also outside of `include`: git sends a commit as a whole or not at all. */
async function lacksObjects(git: Git, { gitDir, commit }: Input): Promise<boolean> {
  const walk = ['rev-list', '--objects', '--missing=print', '--end-of-options', `${commit}^{tree}`];
  // git ends with 128 when the tree itself is missing.
  const options = { accept: [0, 128], maxBytes: 1024 * 1024 * 1024 };
  const { code, stdout } = await git.run([`--git-dir=${gitDir}`, ...walk], options);
  return code !== 0 || stdout[0] === 0x3f || stdout.includes('\n?');
}

/** Asked in the work tree: each linked work tree has a setting of its own. */
async function isSparse(git: Git, { source }: Input): Promise<boolean> {
  const args = ['-C', source.path, 'config', '--type=bool', '--get', 'core.sparseCheckout'];
  const { code, stdout } = await git.run(args, { accept: [0, 1] });
  return code === 0 && stdout.toString('latin1').trim() === 'true';
}
