import type { Deps } from '../../deps.ts';
import { WorkspaceError } from '../../errors.ts';

/** A file name of 255 bytes, less the `.lock` that git puts at its end while it writes a ref. */
const longestPart = 250;

/**
 * The full name of a branch given by its short or full one. Anything that git would not take for a branch is refused before it reaches a
 * command line: `EBRANCHINVALID`.
 */
export async function branchName(deps: Pick<Deps, 'git'>, given: string): Promise<string> {
  const short = given.replace(/^refs\/heads\//, '');
  // `git branch` refuses these two, which are valid names of a ref.
  const isPlain = !short.startsWith('-') && short !== 'HEAD' && !short.includes('\0');
  const fits = short.split('/').every((part) => Buffer.byteLength(part) <= longestPart);
  const branch = `refs/heads/${short}`;
  if (isPlain && fits && (await deps.git.run(['check-ref-format', branch], { accept: [0, 1] })).code === 0)
    return branch;
  throw new WorkspaceError('EBRANCHINVALID', `git does not take ${JSON.stringify(given)} for a branch.`);
}
