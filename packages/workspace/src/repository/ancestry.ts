import type { Git } from '../host-git/git.ts';
import { streamObjects } from '../host-git/stream-blobs.ts';
import { asOwner, listGit, type Repository } from '../source/git/repository.ts';

/** A commit and the newest of its ancestors. */
export interface Ancestry {
  /** The number of commits, the first included. */
  commits: number;
  /** Parents of the first commit within the list. */
  parents: string[];
  /** Commits with a parent outside of the list: git must read these as commits without parents. */
  boundary: string[];
}

const newline = 0x0a;
/** Commits of a history. The longest history in practice has 1.4 million. */
const mostCommits = 5_000_000;
/** The head of a commit object (tree, parents, people, signature) is kept up to so many bytes; the message is not read. */
const largestHead = 1024 * 1024;

/** The first commit has all its parents, or none. */
export async function readAncestry(
  git: Git,
  input: { repository: Repository; commit: string; commits: number; signal?: AbortSignal },
): Promise<Ancestry> {
  const ids = await newestCommits(git, input);
  const among = new Set(ids);
  const ancestry: Ancestry = { commits: ids.length, parents: [], boundary: [] };
  await eachCommit(git, { ...input, ids }, (id, parents) => {
    const isWhole = parents.every((parent) => among.has(parent));
    if (!isWhole) ancestry.boundary.push(id);
    else if (id === input.commit) ancestry.parents = parents;
  });
  return ancestry;
}

async function newestCommits(
  git: Git,
  {
    repository,
    commit,
    commits,
    signal,
  }: { repository: Repository; commit: string; commits: number; signal?: AbortSignal },
): Promise<string[]> {
  const count = Number.isSafeInteger(commits + 1) ? [`--max-count=${commits}`] : [];
  const args = ['rev-list', ...count, '--end-of-options', commit];
  const ids: string[] = [];
  for await (const rows of listGit(git, repository, args, { end: newline, most: mostCommits, signal })) {
    for (const row of rows) ids.push(row);
  }
  return ids;
}

/**
 * Reads the commits row by row: full histories of large repositories have gigabytes of commit objects. Not by `rev-list --parents`: its
 * answer follows grafts and the source's own shallow file, missing in the workspace.
 */
async function eachCommit(
  git: Git,
  { repository, ids, signal }: { repository: Repository; ids: readonly string[]; signal?: AbortSignal },
  take: (id: string, parents: string[]) => void,
): Promise<void> {
  const { at, options } = asOwner(repository);
  let id = '';
  let head: Buffer[] = [];
  let bytes = 0;
  await streamObjects(
    git,
    { at, oids: ids, type: 'commit', options: { ...options, signal } },
    {
      begin: (index) => {
        [id, head, bytes] = [ids[index] ?? '', [], 0];
      },
      piece: (piece) => {
        if (bytes < largestHead) head.push(piece);
        bytes += piece.length;
      },
      end: () => take(id, parentsIn(Buffer.concat(head).toString('latin1'))),
    },
  );
}

function parentsIn(content: string): string[] {
  const head = content.slice(0, content.indexOf('\n\n'));
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent);
}
