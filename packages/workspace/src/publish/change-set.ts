import type { Deps } from '../deps.ts';
import type { SnapshotId } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type LoadedSnapshot, loadSnapshot } from '../tree/load-snapshot.ts';
import { type Change, changesBetween } from '../tree/tree.ts';

/** What a publish brings to the source: files that differ between two snapshots, without the paths that the newer one skipped. */
export interface ChangeSet {
  before: LoadedSnapshot;
  after: LoadedSnapshot;
  changes: Change[];
}

export async function changeSet(
  deps: Deps,
  input: { folder: RunFolder; from: SnapshotId; to: SnapshotId },
): Promise<ChangeSet> {
  const { folder } = input;
  const state = deps.states.of(folder);
  const before = await loadSnapshot(deps, { folder, state, id: input.from });
  const after = await loadSnapshot(deps, { folder, state, id: input.to });
  const { skipped } = after.manifest;
  const changes = changesBetween(before.root, after.root).filter(({ path }) => !isWithinAny(skipped, path));
  return { before, after, changes };
}

/** Whether a path or a folder above it is among some. */
export function isWithinAny(paths: ReadonlyMap<string, unknown>, path: string): boolean {
  const names = path.split('/');
  return names.some((_, index) => paths.has(names.slice(0, index + 1).join('/')));
}
