import type { LeftOut } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import { judgeChanges, type Scope } from '../left-out/judge-changes.ts';
import { summarise } from '../left-out/summarise.ts';
import type { SnapshotId } from '../port.ts';
import { type LoadedSnapshot, loadSnapshot } from '../tree/load-snapshot.ts';
import { isSameSkip, type Skipped } from '../tree/manifest.ts';
import { type Change, changesBetween } from '../tree/tree.ts';

/**
 * What a publish brings to the source: files that differ between two snapshots, without the paths that the newer one skipped, and
 * without what is left out.
 */
export interface ChangeSet {
  before: LoadedSnapshot;
  after: LoadedSnapshot;
  changes: Change[];
  /** All that differs, and what of it is left out. */
  found: Found;
}

type Found = Pick<Parameters<typeof summarise>[1], 'changes' | 'judged' | 'skipped' | 'base'>;

export async function changeSet(deps: Deps, input: Scope & { from: SnapshotId; to: SnapshotId }): Promise<ChangeSet> {
  const { folder, record } = input;
  const state = deps.states.of(folder);
  const base = await loadSnapshot(deps, { folder, state, id: record.base });
  const before = input.from === base.id ? base : await loadSnapshot(deps, { folder, state, id: input.from });
  const after = await loadSnapshot(deps, { folder, state, id: input.to });
  const tracked = [base.root, ...input.tracked];
  const changes = changesBetween(before.root, after.root);
  const skipped = newlySkipped(before, after);
  const asked = [...changes, ...[...skipped.keys()].map((path) => ({ path }))];
  const judged = await judgeChanges(deps, { ...input, tracked }, { root: after.root, changes: asked });
  const isOut = ({ path }: Change) => judged.has(path) || isWithinAny(after.manifest.skipped, path);
  const found = { changes, judged, skipped, base: base.root };
  return { before, after, changes: changes.filter((change) => !isOut(change)), found };
}

/**
 * What the run made or changed since its beginning and is not published.
 * @param input.set what was found already, for when it was counted from there
 */
export async function leftOutOf(deps: Deps, input: Scope & { to: SnapshotId; set?: ChangeSet }): Promise<LeftOut[]> {
  const { folder, record, set } = input;
  const fits = set !== undefined && set.before.id === record.base && set.after.id === input.to;
  const { found } = fits ? set : await changeSet(deps, { ...input, from: record.base });
  return summarise(deps, { ...found, folder });
}

/** What no snapshot holds and the run made or changed, by its size or time. */
export function newlySkipped(before: LoadedSnapshot, after: LoadedSnapshot): Map<string, Skipped> {
  return new Map(
    [...after.manifest.skipped].filter(([path, skip]) => !isSameSkip(before.manifest.skipped.get(path), skip)),
  );
}

/** Whether a path or a folder above it is among some. */
export function isWithinAny(paths: ReadonlyMap<string, unknown>, path: string): boolean {
  if (paths.size === 0) return false;
  const names = path.split('/');
  return names.some((_, index) => paths.has(names.slice(0, index + 1).join('/')));
}
