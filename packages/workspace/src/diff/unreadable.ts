import type { FileCounts, FileDiff } from '@holdpoint/contract';
import { type Deps, type DiffRequest, WorkspaceError } from '../deps.ts';
import { fromText, toText } from '../files/index.ts';
import { changedPaths } from '../host-git/changed-paths.ts';
import { findDamaged, isDamage } from '../host-git/find-damaged.ts';
import { requireRecord, runFolder } from '../run-folder/index.ts';
import type { Change, Leaf } from '../store/objects/index.ts';
import { oidsOf, within } from './review.ts';

/** Paths named in an error. */
const mostNamed = 20;

/** Tries without a check first; after a failure for damage, again with the ids of the damaged blobs among the changes. */
export async function despiteDamage<T>(
  deps: Deps,
  request: DiffRequest,
  work: (damaged: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  try {
    return await work(new Set());
  } catch (error) {
    const { damaged } = await damagedChanges(deps, request, error);
    if (damaged.size === 0) throw error;
    return work(damaged);
  }
}

/** After a failure for damage: names the damaged files. */
export async function nameDamaged<T>(deps: Deps, request: DiffRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { changes } = await damagedChanges(deps, request, error);
    if (changes.length === 0) throw error;
    const names = changes.slice(0, mostNamed).map(({ path }) => toText(path));
    const more = changes.length > mostNamed ? ` and ${changes.length - mostNamed} more` : '';
    const text = `The content of ${names.join(', ')}${more} is lost or damaged in the store of the run. The diff as JSON shows the other files, and a patch can be requested for a single path.`;
    throw new WorkspaceError('EWORKSPACECORRUPT', text, { cause: error });
  }
}

async function damagedChanges(deps: Deps, request: DiffRequest, error: unknown) {
  if (!isDamage(error)) throw error;
  const folder = runFolder(deps.dataDir, request.runId);
  const { from, to, path } = request;
  const listed = await changedPaths(deps, { folder, from, to }).catch((cause: unknown) => {
    throw isTreeLost(cause) ? new WorkspaceError('EWORKSPACECORRUPT', lostTree(cause), { cause }) : error;
  });
  const isWanted = within(path);
  const changes = listed.filter((change) => isWanted(change.path));
  const damaged = await findDamaged(deps, { gitDir: folder.shadow, oids: changes.flatMap(oidsOf) });
  return { damaged, changes: changes.filter((change) => oidsOf(change).some((oid) => damaged.has(oid))) };
}

/** Names the damaged files of a change set that is to be published. */
export const nameDamagedOf = <T>(deps: Deps, { runId, snapshot }: Published, work: () => Promise<T>): Promise<T> => {
  const { base } = requireRecord(runFolder(deps.dataDir, runId));
  return nameDamaged(deps, { runId, from: base, to: snapshot }, work);
};

interface Published {
  runId: string;
  snapshot: string;
}

const isTreeLost = (error: unknown): error is WorkspaceError =>
  isDamage(error) && /unable to read|is corrupt|bad object|could not read|bad tree/.test(String(error));

const lostTree = (error: WorkspaceError): string =>
  `A folder of a snapshot is lost or damaged in the store of the run, so its files cannot be listed: ${error.message}`;

/** Adds the unreadable files at their places: git lists files by the bytes of their paths. */
export function withUnreadable<File extends FileCounts>(
  files: File[],
  unreadable: readonly Change[],
  shown: (file: FileDiff) => File,
): File[] {
  if (unreadable.length === 0) return files;
  const keyed = [...files, ...unreadable.map((change) => shown(unreadableFile(change)))].map((file) => ({
    file,
    path: fromText(file.path),
  }));
  return keyed.sort((a, b) => (a.path < b.path ? -1 : 1)).map(({ file }) => file);
}

const modeOf = (leaf: Leaf | null): string | null => (leaf === null ? null : leaf.mode.toString(8));

function unreadableFile({ path, old, new: now }: Change): FileDiff {
  const { code, message, next } = new WorkspaceError(
    'EWORKSPACECORRUPT',
    'A version of this file is lost or damaged in the store of the run.',
  );
  return {
    path: toText(path),
    status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
    ...{ old_mode: modeOf(old), new_mode: modeOf(now) },
    ...{ binary: false, additions: 0, deletions: 0, hunks: [] },
    unreadable: { code, message, next },
  };
}
