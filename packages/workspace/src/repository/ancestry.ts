import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../host-git/git.ts';
import { readPieces, tooMany } from '../host-git/read-rows.ts';
import { asOwner, type Repository } from '../source/git/repository.ts';
import { walkCommits } from './walk-commits.ts';

/** A commit and the newest of its ancestors. */
export interface Ancestry {
  /** The number of commits, the first included. */
  commits: number;
  /** Parents of the first commit within the list. */
  parents: string[];
  /** Commits with a parent outside of the list: git must read these as commits without parents. */
  boundary: string[];
}

/** A commit whose object is in memory. */
export interface BaseCommit {
  id: string;
  /** Id of its tree. */
  tree: string;
  content: Buffer;
}

interface Input {
  repository: Repository;
  commit: BaseCommit;
  commits: number;
  signal?: AbortSignal;
}

/** Commits of a history. The longest history in practice has 1.4 million. */
const mostCommits = 5_000_000;
/** The head of a commit object (tree, parents, people, signature) is kept up to so many bytes; the message is not read. */
const largestHead = 1024 * 1024;

/** The first commit has all its parents, or none. */
export async function readAncestry(git: Git, input: Input): Promise<Ancestry> {
  const found = isAlone(input)
    ? new Map([[input.commit.id, []]])
    : ((await walkCommits(git, input)) ?? (await listCommits(git, input)));
  const ancestry: Ancestry = { commits: found.size, parents: [], boundary: [] };
  for (const [id, parents] of found) {
    const isWhole = parents.every((parent) => found.has(parent));
    if (!isWhole) ancestry.boundary.push(id);
    else if (id === input.commit.id) ancestry.parents = parents;
  }
  return ancestry;
}

/** Whether a commit has no parents, in its object and in the grafts that git follows. */
const isAlone = ({ commit, repository }: Input): boolean =>
  parentsIn(commit.content.toString('latin1')).length === 0 && !existsSync(join(repository.common, 'info/grafts'));

/**
 * The newest commits with their parents, as the objects name them: in its raw form git follows neither grafts nor the source's own shallow
 * file, which are missing in the workspace. Read piece by piece: full histories of large repositories have gigabytes of commit objects.
 */
async function listCommits(git: Git, input: Input): Promise<Map<string, string[]>> {
  const { repository, commit, commits, signal } = input;
  const { at, options } = asOwner(repository);
  const count = Number.isSafeInteger(commits + 1) ? [`--max-count=${commits}`] : [];
  const args = [...at, 'rev-list', '--header', '--encoding=none', ...count, '--end-of-options', commit.id];
  const found = new Map<string, string[]>();
  let head: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    if (bytes < largestHead) head.push(piece);
    bytes += piece.length;
  };
  for await (const piece of readPieces(git, args, { ...options, signal })) {
    let from = 0;
    for (let end = piece.indexOf(0); end !== -1; from = end + 1, end = piece.indexOf(0, from)) {
      take(piece.subarray(from, end));
      const record = Buffer.concat(head).toString('latin1');
      found.set(record.slice(0, record.indexOf('\n')), parentsIn(record));
      if (found.size > mostCommits) throw tooMany(mostCommits);
      [head, bytes] = [[], 0];
    }
    take(piece.subarray(from));
  }
  return found;
}

function parentsIn(content: string): string[] {
  const end = content.indexOf('\n\n');
  const head = end === -1 ? content : content.slice(0, end);
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent);
}
