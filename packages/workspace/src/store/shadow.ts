import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath, writeDurably } from '../files/index.ts';
import type { RunFolder } from '../run-folder/index.ts';

/** Turns every attribute off: content is bytes, for any `.gitattributes` of a tree or a user. */
export const shadowAttributes =
  '* -text !eol -ident -filter !working-tree-encoding !diff !merge !export-ignore !export-subst\n';

/** Creates the run's bare repository. The repository lies outside every sandbox mount and has no alternates. */
export async function createShadow(folder: RunFolder): Promise<void> {
  await createBare(folder.shadow);
  for (const name of ['info', 'journal']) mkdirSync(join(folder.shadow, name), { recursive: true });
  await writeDurably(join(folder.shadow, 'info', 'attributes'), shadowAttributes, 0o644);
}

/** The files of `git init --bare --template= --initial-branch=none`. The process takes 18 ms from a large worker. */
const bareFiles = {
  HEAD: 'ref: refs/heads/none\n',
  config: '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n',
} as const;

/** Creates an empty bare repository closed to all other users. */
export async function createBare(path: string): Promise<void> {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
    mkdirSync(join(path, name), { recursive: true });
  }
  for (const [name, content] of Object.entries(bareFiles)) writeFileSync(join(path, name), content);
}

/**
 * Waits until all files written by git into the repository are on disk. git syncs packs and refs, but neither HEAD nor its configuration: a
 * power cut within half a minute left both empty and the repository unreadable.
 */
export async function syncShadow(folder: RunFolder): Promise<void> {
  // Concurrently: the file system writes them together, in few commits of its journal.
  await Promise.all(pathsBelow(folder.shadow).map(syncPath));
}

/** Their writers, git and this package, have synced objects and refs. There may be thousands. */
const isSynced = (path: string): boolean => /\/shadow\.git\/(objects|refs)\//.test(path);

/** Every folder, and every unsynced file. */
function pathsBelow(path: string): string[] {
  const below = readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const at = join(path, entry.name);
    if (entry.isDirectory()) return pathsBelow(at);
    return isSynced(at) ? [] : [at];
  });
  return [...below, path];
}
