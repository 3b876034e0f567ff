import { existsSync } from 'node:fs';
import { type Call, type Deps, type RecentCommit, WorkspaceError } from '../deps.ts';
import { readObjects } from '../host-git/stream-blobs.ts';
import { historyOf } from '../repository/index.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';

/** A message can have gigabytes; a larger commit ends the list. Bytes. */
const largestCommit = 256 * 1024;
/** Characters kept of a subject. */
const longestSubject = 200;

interface Found extends RecentCommit {
  parents: string[];
}

/**
 * The newest commits that the workspace began with, in the order of their dates. They come from the run's own repositories, never from the
 * source or the tree: no configuration and no hook of a user applies. A commit that cannot be read is left out with its ancestors.
 */
export async function recentCommits(
  deps: Pick<Deps, 'git' | 'dataDir'>,
  { runId, most, signal }: Call<'recentCommits'>,
): Promise<RecentCommit[]> {
  const folder = runFolder(deps.dataDir, runId);
  const { base_commit: first } = requireRecord(folder);
  if (first === null) return [];
  const history = historyOf(folder);
  const read = (gitDir: string, ids: readonly string[]) => readCommits(deps, { gitDir, ids, signal });
  const queue = await read(folder.shadow, [first]);
  const seen = new Set([first]);
  const commits: RecentCommit[] = [];
  while (commits.length < most) {
    const next = queue.shift();
    if (next === undefined) break;
    const { parents, ...commit } = next;
    commits.push(commit);
    const fresh = [...new Set(parents)].filter((id) => !seen.has(id)).slice(0, most);
    for (const id of fresh) seen.add(id);
    if (fresh.length > 0 && existsSync(history)) queue.push(...(await read(history, fresh)));
    queue.sort((one, other) => other.seconds - one.seconds);
  }
  return commits;
}

async function readCommits(
  { git }: Pick<Deps, 'git'>,
  { gitDir, ids, signal }: { gitDir: string; ids: readonly string[]; signal: AbortSignal | undefined },
): Promise<Found[]> {
  const found: Found[] = [];
  if (git.objects === undefined) throw new Error('commits are read through the kept program of an operation');
  // One question each: git stops at a commit that is absent, for example behind the end of a shallow history.
  for (const id of ids) {
    try {
      const query = { gitDir, names: [id], type: 'commit', mostBytes: largestCommit, signal } as const;
      await readObjects(git.objects, query, (_, content) => found.push({ id, ...parse(content) }));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof WorkspaceError)) throw error;
    }
  }
  return found;
}

function parse(content: Buffer): Omit<Found, 'id'> {
  const end = content.indexOf('\n\n');
  const head = content.toString('latin1', 0, end === -1 ? content.length : end);
  const message = end === -1 ? '' : content.toString('utf8', end + 2).trimStart();
  const [, seconds = '0'] = /^committer [^\n]*> (\d{1,11}) [+-]\d{4}$/m.exec(head) ?? [];
  return {
    seconds: Number(seconds),
    subject: (/^[^\n]*/.exec(message)?.[0] ?? '').slice(0, longestSubject).toWellFormed(),
    parents: [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent),
  };
}
