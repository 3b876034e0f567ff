import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkspaceError } from '../errors.ts';
import type { Git } from '../host-git/git.ts';
import { largestCommit } from '../source/git/named-commit.ts';
import { type Repository, readKept } from '../source/git/repository.ts';

interface Input {
  repository: Repository;
  commit: { id: string; content: Buffer };
  commits: number;
  signal?: AbortSignal;
}

/** Each commit is a question to the kept program; git lists a longer history faster than that. */
const mostWalked = 200;

interface Commit {
  id: string;
  parents: string[];
  seconds: number;
}

/**
 * The newest commits in the order of `git rev-list`, with their parents, read through the kept program of the operation. Undefined where git
 * has to list them: a long history, grafts, a shallow source, a commit in an unusual form, a commit that cannot be read.
 */
export async function walkCommits(git: Git, input: Input): Promise<Map<string, string[]> | undefined> {
  const { repository, commit, commits, signal } = input;
  if (git.objects === undefined || commits > mostWalked || isCut(repository)) return undefined;
  try {
    return await walk(parseCommit(commit.id, commit.content), commits, (ids) =>
      readCommits(git, { repository, ids, signal }),
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

const isCut = ({ common }: Repository): boolean =>
  ['shallow', 'info/grafts'].some((name) => existsSync(join(common, name)));

async function walk(
  first: Commit | undefined,
  most: number,
  read: (ids: readonly string[]) => Promise<(Commit | undefined)[]>,
): Promise<Map<string, string[]> | undefined> {
  const found = new Map<string, string[]>();
  if (first === undefined) return undefined;
  const seen = new Set([first.id]);
  const queue = [first];
  while (found.size < most) {
    const next = queue.shift();
    if (next === undefined) break;
    found.set(next.id, next.parents);
    const fresh = [...new Set(next.parents)].filter((id) => !seen.has(id));
    for (const parent of await read(fresh)) {
      if (parent === undefined) return undefined;
      seen.add(parent.id);
      insertByDate(queue, parent);
    }
  }
  return found;
}

/** The newest first; among commits of the same second, the commit that was seen first. */
function insertByDate(queue: Commit[], commit: Commit): void {
  const at = queue.findIndex(({ seconds }) => seconds < commit.seconds);
  queue.splice(at === -1 ? queue.length : at, 0, commit);
}

async function readCommits(
  git: Git,
  { repository, ids, signal }: { repository: Repository; ids: readonly string[]; signal?: AbortSignal | undefined },
): Promise<(Commit | undefined)[]> {
  const found: (Commit | undefined)[] = [];
  const query = { names: ids, type: 'commit', mostBytes: largestCommit, signal } as const;
  await readKept(git, repository, query, (index, content) => {
    found.push(parseCommit(ids[index] ?? '', content));
  });
  return found;
}

/** The form that every version of git writes and reads in the same way. */
const usual =
  /^tree [0-9a-f]{40}\n((?:parent [0-9a-f]{40}\n)*)author [^\n\0]*\ncommitter [^<>\n\0]*<[^<>\n\0]*> (\d{1,10}) [+-]\d{4}\n/;

function parseCommit(id: string, content: Buffer): Commit | undefined {
  const text = content.toString('latin1');
  const match = usual.exec(text);
  if (match === null) return undefined;
  const [, rows = '', seconds] = match;
  const parents = rows
    .split('\n')
    .slice(0, -1)
    .map((row) => row.slice('parent '.length));
  // A line behind the people is no parent for git, and is one for a reader of lines.
  const others = text.slice(match[0].length, text.indexOf('\n\n') + 1);
  return /^parent /m.test(others) ? undefined : { id, parents, seconds: Number(seconds) };
}
