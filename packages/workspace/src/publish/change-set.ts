import type { LeftOut, PublishPlan } from '@holdpoint/contract';
import type { Deps, ObjectWriter, SnapshotId } from '../deps.ts';
import { isWithinAny, toText } from '../files/index.ts';
import { summarise } from '../left-out/changed-repositories.ts';
import { findLeftOut, type Scope } from '../left-out/find-left-out.ts';
import { isSameSkip, type Skipped } from '../run-folder/index.ts';
import { type Change, changesBetween, type Folder } from '../store/objects/index.ts';
import { type LoadedSnapshot, loadSnapshot } from '../tree/index.ts';
import { findMoves } from './merge/find-moves.ts';

/** The changes of a publish to the source: the difference of two snapshots, without skipped paths and left out paths. */
export interface ChangeSet {
  before: LoadedSnapshot;
  after: LoadedSnapshot;
  changes: Change[];
  /** All differences, with the left out part. */
  found: Found;
}

type Found = Pick<Parameters<typeof summarise>[1], 'changes' | 'reasons' | 'skipped' | 'base'>;

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
  const reasons = await findLeftOut(deps, { ...input, tracked }, { root: after.root, changes: asked });
  const isOut = ({ path }: Change) => reasons.has(path) || isWithinAny(after.manifest.skipped, path);
  const found = { changes, reasons, skipped, base: base.root };
  return { before, after, changes: changes.filter((change) => !isOut(change)), found };
}

/**
 * Lists the run's changes since its start outside of the publish.
 * @param input.set a change set to reuse, if counted from the start of the run
 */
export async function leftOutOf(deps: Deps, input: Scope & { to: SnapshotId; set?: ChangeSet }): Promise<LeftOut[]> {
  const { folder, record, set } = input;
  const fits = set !== undefined && set.before.id === record.base && set.after.id === input.to;
  const { found } = fits ? set : await changeSet(deps, { ...input, from: record.base });
  return summarise(deps, { ...found, folder });
}

/** Skipped paths made or changed by the run, reasons by size and time. */
export function newlySkipped(before: LoadedSnapshot, after: LoadedSnapshot): Map<string, Skipped> {
  return new Map(
    [...after.manifest.skipped].filter(([path, skip]) => !isSameSkip(before.manifest.skipped.get(path), skip)),
  );
}

type PlanFiles = PublishPlan['files'];

/** Adds the moves of files to a plan. A hint for the deciding person: the digest of the plan does not cover moves. */
export async function withMoves(
  deps: Pick<Deps, 'git'>,
  files: PlanFiles,
  trees: { gitDir: string; writer: ObjectWriter; from: Folder; to: Folder },
): Promise<PlanFiles> {
  const paths = (status: string) => new Set(files.filter((file) => file.status === status).map(({ path }) => path));
  const [made, gone] = [paths('added'), paths('deleted')];
  if (made.size === 0 || gone.size === 0) return files;
  const moves = [...(await findMoves(deps, trees))].map(([from, to]) => [toText(from), toText(to)] as const);
  const known = moves.filter(([from, to]) => gone.has(from) && made.has(to));
  const [to, from] = [new Map(known), new Map(known.map(([before, now]) => [now, before]))];
  return files.map((file) => ({ ...file, moved_from: from.get(file.path), moved_to: to.get(file.path) }));
}
