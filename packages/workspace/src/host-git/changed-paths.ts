import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import type { SnapshotId } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type Change, canonicalMode, type Leaf } from '../tree/tree.ts';

const shape = ['-r', '--raw', '-z', '--no-abbrev', '--no-renames', '--stdin', '--no-commit-id'];

/** Which files differ between two snapshots, without a look at what is in them. */
export async function changedPaths(
  deps: Pick<Deps, 'keptDiffs'>,
  { folder, from, to }: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<Change[]> {
  const args = [`--git-dir=${folder.shadow}`, 'diff-tree', ...shape];
  const output = await deps.keptDiffs.diff({ args, from, to, maxBytes: 1024 * 1024 * 1024 });
  const fields = output.toString('latin1').split('\0');
  const changes: Change[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) changes.push(changeOf(fields[at] ?? '', fields[at + 1] ?? ''));
  return changes;
}

function changeOf(meta: string, path: string): Change {
  const match = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) [AMDT]$/.exec(meta);
  if (match === null) throw new WorkspaceError('EGITFAILED', `git wrote a diff that cannot be read: ${meta}`);
  const [, oldMode = '', newMode = '', oldId = '', newId = ''] = match;
  return { path, old: leafOf(oldMode, oldId), new: leafOf(newMode, newId) };
}

const leafOf = (mode: string, oid: string): Leaf | null =>
  mode === '000000' ? null : { mode: canonicalMode(mode), oid };
