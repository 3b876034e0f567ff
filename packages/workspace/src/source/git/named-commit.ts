import { WorkspaceError } from '../../errors.ts';
import type { Git } from '../../host-git/git.ts';
import { type Repository, readKept } from './repository.ts';

/** A larger commit object is refused. Bytes. */
export const largestCommit = 16 * 1024 * 1024;

export interface NamedCommit {
  commit: string;
  content: Buffer;
}

/**
 * The commit behind a name, as `git rev-parse <name>^{commit}` finds it, from the kept program of the operation. Undefined where that
 * program does not give a commit with a SHA-1 id: then `rev-parse` says why.
 */
export async function readNamedCommit(
  git: Git,
  repository: Repository,
  { name, signal }: { name: string; signal?: AbortSignal | undefined },
): Promise<NamedCommit | undefined> {
  // Such a name would end the line of the request, or the name in git.
  if (/\p{Cc}/u.test(name)) return undefined;
  const query = { names: [`${name}^{commit}`], type: 'commit', mostBytes: largestCommit, signal } as const;
  let found: NamedCommit | undefined;
  try {
    await readKept(git, repository, query, (_, content, commit) => {
      found = { commit, content };
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
  return found !== undefined && /^[0-9a-f]{40}$/.test(found.commit) ? found : undefined;
}
