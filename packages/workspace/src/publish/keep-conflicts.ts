import type { Conflict } from '@holdpoint/contract';
import type { RunFolder, WorkspaceRecord } from '../deps.ts';
import { type Leaf, modes, type ObjectWriter, writeRef } from '../store/objects/index.ts';

/** All oids of the versions shown by a conflict. */
export const oidsOf = ({ versions }: Conflict): string[] =>
  [versions?.base, versions?.source, versions?.run].flatMap((version) => (version ? [version.oid] : []));

/** Points at the versions of the files in the last conflict. */
const conflictRef = 'refs/holdpoint/conflict';

/**
 * Keeps the versions of files in conflict in the shadow repository: a person can read them until the decision on the publish, even after a
 * change of the source.
 */
export async function keepConflicts(
  { folder, record, writer }: { folder: RunFolder; record: WorkspaceRecord; writer: ObjectWriter },
  oids: Iterable<string>,
): Promise<void> {
  const entries = new Map([...oids].map((oid): [string, Leaf] => [oid, { mode: modes.file, oid }]));
  if (entries.size === 0) return;
  const tree = await writer.root({ entries });
  const commit = writer.commit({ tree, parent: null, seconds: record.created_at, message: 'versions in conflict' });
  await writer.flush();
  await writeRef(folder.shadow, conflictRef, commit);
}
