import type { Git } from '../host-git/git.ts';
import { type Repository, readGit } from '../source-repository/repository.ts';

/** A commit and the newest of the commits before it. */
export interface Ancestry {
  /** How many commits, the first one included. */
  commits: number;
  /** Parents of the first commit that are among them. */
  parents: string[];
  /** Commits with a parent that is not among them: git is to read these as commits without parents. */
  boundary: string[];
}

/** The first commit has all its parents, or none. */
export async function readAncestry(
  git: Git,
  input: { repository: Repository; commit: string; commits: number; signal?: AbortSignal },
): Promise<Ancestry> {
  const { repository, commit, signal } = input;
  const options = { maxBytes: 1024 * 1024 * 1024, signal };
  const count = Number.isSafeInteger(input.commits + 1) ? [`--max-count=${input.commits}`] : [];
  const listed = await readGit(git, repository, ['rev-list', ...count, '--end-of-options', commit], options);
  const ids = listed.stdout.toString('latin1').split('\n').slice(0, -1);
  // Not `rev-list --parents`: it answers what grafts and the source's own shallow file say, which the workspace does not have.
  const contents = await readGit(git, repository, ['cat-file', '--batch', '--buffer'], {
    ...options,
    input: `${ids.join('\n')}\n`,
  });
  const among = new Set(ids);
  const ancestry: Ancestry = { commits: ids.length, parents: [], boundary: [] };
  for (const [id, parents] of parentsIn(contents.stdout)) {
    const isWhole = parents.every((parent) => among.has(parent));
    if (!isWhole) ancestry.boundary.push(id);
    else if (id === commit) ancestry.parents = parents;
  }
  return ancestry;
}

function* parentsIn(batch: Buffer): Generator<[string, string[]]> {
  for (let at = 0; at < batch.length; ) {
    const start = batch.indexOf(0x0a, at) + 1;
    const [id = '', type, size] = batch.toString('latin1', at, start - 1).split(' ');
    if (type !== 'commit') throw new Error(`git answered ${type} for the commit ${id}`);
    const content = batch.toString('latin1', start, start + Number(size));
    const head = content.slice(0, content.indexOf('\n\n'));
    yield [id, [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent)];
    at = start + Number(size) + 1;
  }
}
