import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { syncFile, writeDurably } from '../files/write-durably.ts';
import { writeRef } from '../git-objects/ref-file.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Git } from './git.ts';

/** Turns every attribute off: content is bytes, whatever `.gitattributes` a tree or a user has. */
export const shadowAttributes =
  '* -text !eol -ident -filter !working-tree-encoding !diff !merge !export-ignore !export-subst\n';

/** Makes the run's bare repository. It lies outside of every sandbox mount and borrows no objects from anywhere. */
export async function createShadow(git: Git, folder: RunFolder): Promise<void> {
  mkdirSync(folder.shadow, { mode: 0o700 });
  await git.run([
    'init',
    '-q',
    '--bare',
    '--template=',
    '--initial-branch=none',
    '--object-format=sha1',
    folder.shadow,
  ]);
  mkdirSync(join(folder.shadow, 'info'), { recursive: true });
  await writeDurably(join(folder.shadow, 'info', 'attributes'), shadowAttributes, 0o644);
}

/**
 * Waits until everything that git wrote into the repository is on disk. git syncs packs and refs, and neither HEAD nor its configuration:
 * a power cut within half a minute left them empty, and the repository unreadable.
 */
export async function syncShadow(folder: RunFolder): Promise<void> {
  // At once: the file system brings them to the disk together, in one or two writes of its journal.
  await Promise.all(pathsBelow(folder.shadow).map(syncFile));
}

/** Objects and refs were synced by what wrote them: git, and this package. There may be thousands of them. */
const isSynced = (path: string): boolean => /\/shadow\.git\/(objects|refs)\//.test(path);

/** Every folder, and every file that is not synced yet. */
function pathsBelow(path: string): string[] {
  const below = readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const at = join(path, entry.name);
    if (entry.isDirectory()) return pathsBelow(at);
    return isSynced(at) ? [] : [at];
  });
  return [...below, path];
}

/**
 * Fetches one commit of the source, without its history: the history is not needed to publish, and can be a thousand times as large.
 * The source is only read.
 */
export async function fetchCommit(
  git: Git,
  input: { folder: RunFolder; gitDir: string; commit: string; ref: string; signal?: AbortSignal },
): Promise<void> {
  const quiet = ['-q', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'];
  // As a pack, however small: the workspace's repository shares packs, and one file is synced faster than a hundred.
  const pack = ['-c', 'fetch.unpackLimit=1'];
  const args = [...pack, `--git-dir=${input.folder.shadow}`, 'fetch', ...quiet, '--depth=1', '--end-of-options'];
  await git.run([...args, input.gitDir, input.commit], input.signal === undefined ? {} : { signal: input.signal });
  await writeRef(input.folder.shadow, input.ref, input.commit);
}

/** Fetches the commit that a run begins with. */
export const fetchBase = (git: Git, input: Omit<Parameters<typeof fetchCommit>[1], 'ref'>): Promise<void> =>
  fetchCommit(git, { ...input, ref: 'refs/holdpoint/base' });
