import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { openTop, setFileOwner, setFolderOwner, writeAll } from '../files/index.ts';
import type { Owner } from '../port/workspaces.ts';
import { commitContent, type Folder, signature } from '../store/objects/index.ts';
import { buildIndex } from '../tree/index-file.ts';
import { initialFiles, initialFolders } from './base-objects.ts';
import type { Ancestry } from './history.ts';

/** Creates the repository of a new tree: at its base commit, with a clean status. */
export async function createRepository(input: {
  tree: string;
  root: Folder;
  source: Source;
  baseCommit: string;
  /** Commits for git to read as commits without parents. */
  boundary: readonly string[];
  owner: Owner | undefined;
}): Promise<void> {
  const { owner } = input;
  const path = join(input.tree, '.git');
  for (const name of ['', ...initialFolders]) {
    mkdirSync(join(path, name), { mode: 0o755 });
    using folder = openTop(join(path, name));
    setFolderOwner(folder.fd, owner);
  }
  const shallow = input.boundary.length === 0 ? {} : { shallow: `${input.boundary.join('\n')}\n` };
  const files = {
    ...initialFiles(input.source, input.baseCommit),
    ...shallow,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), [Buffer.from(content)], owner);
  await writeFile(join(path, 'index'), buildIndex(input.root), owner);
}

async function writeFile(
  path: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  owner: Owner | undefined,
): Promise<void> {
  const fd = openSync(path, 'wx', 0o644);
  try {
    for await (const piece of pieces) writeAll(fd, piece);
    setFileOwner(fd, owner, 0o644);
  } finally {
    closeSync(fd);
  }
}

/**
 * The first commit of a workspace's repository, with the files of the first snapshot. For a git source the commit has the message, author and
 * dates of the source's commit, and its parents when the workspace has its history: with the same files, both are the same commit.
 * @param input.source content of the source's commit
 * @param input.history absent: the commit has no parent
 */
export function baseCommitContent(input: {
  tree: string;
  seconds: number;
  source: Buffer | undefined;
  history?: Ancestry | undefined;
}): Buffer {
  if (input.source === undefined) {
    return commitContent({
      tree: input.tree,
      parent: null,
      seconds: input.seconds,
      message: 'Base of the run',
      author: signature,
    });
  }
  const end = input.source.indexOf('\n\n');
  const head = input.source.toString('latin1', 0, end).split('\n');
  if (input.history !== undefined && head[0] === `tree ${input.tree}`) return input.source;
  const kept = head.filter((line) => /^(author|committer|encoding) /.test(line));
  const parents = (input.history?.parents ?? []).map((parent) => `parent ${parent}`);
  const lines = [`tree ${input.tree}`, ...parents, ...kept, '', ''];
  return Buffer.concat([Buffer.from(lines.join('\n'), 'latin1'), input.source.subarray(end + 2)]);
}
