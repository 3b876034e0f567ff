import { createYielder } from '../files/index.ts';
import { type SnapshotId, WorkspaceError } from '../port/workspaces.ts';
import type { RunFolder } from '../run-folder/index.ts';
import { type Change, canonicalMode, type Leaf } from '../store/objects/index.ts';
import type { DiffProcesses } from './diff-processes.ts';

const shape = ['-r', '--raw', '-z', '--no-abbrev', '--no-renames', '--stdin', '--no-commit-id'];

/** The changed files between two snapshots, without reading their content. */
export async function changedPaths(
  deps: { diffProcesses: DiffProcesses },
  { folder, from, to }: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<Change[]> {
  const args = [`--git-dir=${folder.shadow}`, 'diff-tree', ...shape];
  const output = await deps.diffProcesses.diff({ args, from, to, maxBytes: 1024 * 1024 * 1024 });
  const changes: Change[] = [];
  const maybeYield = createYielder();
  for (let at = 0; at < output.length; ) {
    const meta = output.indexOf(0, at);
    const path = output.indexOf(0, meta + 1);
    if (meta === -1 || path === -1) break;
    changes.push(changeOf(output.toString('latin1', at, meta), output.toString('latin1', meta + 1, path)));
    at = path + 1;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  return changes;
}

function changeOf(meta: string, path: string): Change {
  const match = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) [AMDT]$/.exec(meta);
  if (match === null) throw new WorkspaceError('EGITFAILED', `git wrote a malformed diff: ${meta}`);
  const [, oldMode = '', newMode = '', oldId = '', newId = ''] = match;
  return { path, old: leafOf(oldMode, oldId), new: leafOf(newMode, newId) };
}

const leafOf = (mode: string, oid: string): Leaf | null =>
  mode === '000000' ? null : { mode: canonicalMode(mode), oid };
