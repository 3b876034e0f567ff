import { createHash } from 'node:crypto';
import type { Conflict, PublishPlan } from '@holdpoint/contract';
import type { OpenPath } from '../../bounds/bounds.ts';
import type { Deps, PublishRequest, RunFolder, SnapshotId, WorkspaceRecord } from '../../deps.ts';
import { isWithinAny, toText } from '../../files/index.ts';
import type { Scope } from '../../left-out/find-left-out.ts';
import { commitTree } from '../../snapshots/snapshot.ts';
import * as objects from '../../store/objects/index.ts';
import { isPrivate, kindOf, permissionsAt } from '../../tree/index.ts';
import { type ChangeSet, changeSet, leftOutOf, withMoves } from '../change-set.ts';
import { createTextBudget, keepConflicts, largestText, readVersions, textOf, versionOf } from '../conflict-versions.ts';
import { countHunks, type Versions } from '../merge/conflict-lines.ts';
import { largestMerged } from '../merge/merge-folders.ts';
import { toPlanFiles, withDigest } from '../plan-digest.ts';
import { findUnexplained } from '../unexplained.ts';
import { compareSource, type Outcome } from './compare-source.ts';
import { ownershipOf, parentOf, type RunBits, readSource, storeSource, withOwnership } from './inspect-source.ts';
import { type Journal, type JournalEntry, lastPublished } from './journal-step.ts';
import { assertOutsideData } from './open-target.ts';

export interface DirectoryInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
  /** The open source; undefined for a lost source. */
  opened: OpenPath | undefined;
}

/** A directory has no ignore rules. */
export const scopeOf = ({ folder, record }: Pick<DirectoryInput, 'folder' | 'record'>): Scope => ({
  folder,
  record,
  includeIgnored: true,
  tracked: [],
});

/** A plan and its journal. */
export interface DirectoryPlan {
  plan: PublishPlan;
  journal: Pick<Journal, 'entries' | 'made' | 'folders' | 'emptied'>;
}

const nothing: DirectoryPlan['journal'] = { entries: [], made: [], folders: {}, emptied: [] };

/** Compares every path with the current source and plans the writes. Changes nothing in the source. */
export async function planDirectory(deps: Deps, input: DirectoryInput): Promise<DirectoryPlan> {
  const { folder, record, snapshot, resolutions = [], opened } = input;
  const origin = record.origin ?? '';
  const target = { type: 'directory', path: record.source.type === 'directory' ? record.source.path : origin } as const;
  if (opened === undefined) {
    const conflict = { path: origin, reason: 'source_missing', detail: 'The directory is not where it was.' } as const;
    const plan = withDigest({ target, candidate: snapshot, files: [], left_out: [], conflicts: [conflict] }, null);
    return { plan, journal: nothing };
  }
  const last = lastPublished(folder);
  const scope = scopeOf(input);
  const left_out = await leftOutOf(deps, { ...scope, to: snapshot });
  if (last !== undefined && isPublished(input)) {
    const plan = { target, candidate: last.candidate, files: [], left_out, conflicts: [], digest: last.digest };
    return { plan, journal: nothing };
  }
  const set = await changeSet(deps, { ...scope, from: last?.snapshot ?? record.base, to: snapshot });
  assertOutsideData(deps, opened, set.changes);
  const writer = objects.createObjectWriter({ gitDir: folder.shadow, known: deps.states.of(folder).known });
  const root = opened.path;
  const { changes, before, after } = set;
  const snapshots = [after.id, before.id];
  const unexplained = await findUnexplained(deps, { folder, base: record.base, snapshots, changes });
  const about = { gitDir: folder.shadow, set, unexplained, resolutions, writer };
  const outcomes = await compareSource(deps, root, about);
  const open = outcomes.filter(({ state }) => state === 'open');
  if (open.length > 0) {
    const conflicts = await toConflicts(deps, { ...input, root, writer }, open);
    const plan = withDigest({ target, candidate: snapshot, files: [], left_out, conflicts }, resolutions);
    return { plan, journal: nothing };
  }
  const journal = await journalOf(root, set, outcomes);
  const candidate = await candidateOf(deps, { ...input, root }, { set, writer, outcomes });
  const files = toPlanFiles(
    journal.entries.filter(({ old, new: now }) => !objects.isSame(old ?? undefined, now ?? undefined)),
  );
  const plan = withDigest({ target, candidate, files, left_out, conflicts: [] }, [journal, resolutions]);
  const trees = { gitDir: folder.shadow, writer, from: set.before.root, to: set.after.root };
  return { plan: { ...plan, files: await withMoves(deps, files, trees) }, journal };
}

/** Equal for the same snapshot with the same resolutions. */
export const requestId = ({ snapshot, resolutions = [] }: PublishRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([snapshot, resolutions]))
    .digest('hex');

/** Whether this request is already published. Without this check, a repeated call would report the user's next edit as a conflict. */
export const isPublished = (input: DirectoryInput): boolean =>
  lastPublished(input.folder)?.request === requestId(input);

/** Deletions first, then writes. A path resolved to the source's present content is skipped. */
async function journalOf(
  root: string,
  set: ChangeSet,
  outcomes: readonly Outcome[],
): Promise<DirectoryPlan['journal']> {
  const entries: JournalEntry[] = [];
  const made = new Set<string>();
  for (const { change, found, wanted, state } of outcomes) {
    const old = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid, ...ownershipOf(found) } : null;
    if (state === 'settled' && objects.isSame(wanted ?? undefined, old ?? undefined)) continue;
    const parent = await parentOf(root, change.path);
    if (wanted !== null) for (const path of parent.missing) made.add(path);
    entries.push({
      path: change.path,
      old,
      new: wanted && withOwnership(wanted, old, { parent: parent.ownership, run: runBits(set, change, wanted) }),
    });
  }
  const order = (entry: JournalEntry) => (entry.new === null ? 0 : 1);
  entries.sort((a, b) => order(a) - order(b));
  const gone = new Set(entries.filter((entry) => entry.new === null).map((entry) => entry.path));
  const emptied = parentsOf(gone).filter((path) => !objects.isFolder(objects.find(set.after.root, path.split('/'))));
  return { entries, made: [...made].sort(), folders: closedFolders(set, made), emptied };
}

function runBits({ before, after }: ChangeSet, { path, old }: objects.Change, wanted: objects.Leaf): RunBits {
  const kind = kindOf(wanted) ?? 'file';
  const bits = permissionsAt(after.manifest.permissions, path, kind);
  const oldKind = old === null ? undefined : kindOf(old);
  const isOld = oldKind !== undefined && permissionsAt(before.manifest.permissions, path, oldKind) === bits;
  return { bits, isNarrowed: isPrivate(bits, kind) && !isOld };
}

/** Private folders and the folders below, because lower folders would otherwise inherit their permissions. */
function closedFolders({ after }: ChangeSet, made: ReadonlySet<string>): Record<string, number> {
  const all = [...made].map((path) => [path, permissionsAt(after.manifest.permissions, path, 'folder')] as const);
  const closed = new Map(all.filter(([, bits]) => isPrivate(bits, 'folder')));
  return Object.fromEntries(all.filter(([path]) => isWithinAny(closed, path)));
}

async function toConflicts(
  deps: Deps,
  { folder, record, root, writer }: DirectoryInput & { root: string; writer: objects.ObjectWriter },
  open: readonly Outcome[],
): Promise<Conflict[]> {
  const { merges, kept } = await mergesOf(deps, { gitDir: folder.shadow, root, writer }, open);
  const budget = createTextBudget();
  const leaves = open.flatMap(({ change }) => [change.old, change.new]);
  const show = await readVersions(deps, { gitDir: folder.shadow, leaves, budget });
  const conflicts: Conflict[] = [];
  for (const outcome of open) {
    const { change, found, detail, isUnexplained, isSettleable } = outcome;
    const isShort = found.kind === 'leaf' && found.bytes <= largestText;
    const content = isShort ? await readSource(root, change.path, found.oid) : undefined;
    const text = content === undefined ? null : textOf(content, budget);
    const source = found.kind === 'leaf' ? versionOf(found, { bytes: found.bytes, text }) : null;
    const versions = { base: show(change.old), source, run: show(change.new) };
    const reason = isUnexplained ? 'not_changed_by_run' : 'changed_in_source';
    const conflict = { path: toText(change.path), reason, detail } as const;
    conflicts.push(isSettleable ? { ...conflict, versions, merge: merges.get(outcome) } : conflict);
  }
  await keepConflicts({ folder, record, writer }, kept);
  return conflicts;
}

/**
 * Merges of files in conflict by lines. Stores the source's versions in the shadow repository.
 * @returns `kept`: ids of all stored versions
 */
async function mergesOf(
  deps: Deps,
  { gitDir, root, writer }: { gitDir: string; root: string; writer: objects.ObjectWriter },
  open: readonly Outcome[],
): Promise<{ merges: Map<Outcome, Conflict['merge']>; kept: string[] }> {
  const stored: (Versions & { outcome: Outcome })[] = [];
  for (const outcome of open) {
    const { change, found } = outcome;
    if (found.kind === 'leaf' && found.bytes > largestMerged) continue;
    const source = found.kind === 'leaf' ? { mode: found.mode, oid: found.oid } : null;
    if (source !== null) await storeSource(root, { path: change.path, oid: source.oid, writer });
    await writer.backpressure();
    stored.push({ outcome, base: change.old, source, run: change.new });
  }
  await writer.flush();
  // A change without a responsible step is taken or refused as a whole.
  const mergeable = stored.filter(({ outcome }) => !outcome.isUnexplained);
  const counted = await countHunks(deps, gitDir, mergeable);
  const merges = new Map([...counted].map(([{ outcome }, merge]) => [outcome, merge]));
  const kept = stored.flatMap(({ base, source, run }) => [base, source, run].flatMap((leaf) => leaf?.oid ?? []));
  return { merges, kept };
}

/**
 * The snapshot equal to the source after the publish: the run's own, unless a person resolved a conflict otherwise, now or in the last
 * publish. A source file too large for a snapshot is skipped, as in any snapshot.
 */
async function candidateOf(
  deps: Deps,
  { folder, record, snapshot, root: top }: DirectoryInput & { root: string },
  { set, writer, outcomes }: { set: ChangeSet; writer: objects.ObjectWriter; outcomes: readonly Outcome[] },
): Promise<SnapshotId> {
  const settled = await settledBefore(deps, { folder, record }, set);
  const skipped = new Map(set.after.manifest.skipped);
  for (const { change, found, wanted, state } of outcomes) {
    if (state !== 'settled' || objects.isSame(wanted ?? undefined, change.new ?? undefined)) continue;
    const isKept = found.kind === 'leaf' && objects.isSame(wanted ?? undefined, found);
    const isSkipped = isKept && found.bytes > deps.limits.fileBytes;
    if (isSkipped) skipped.set(change.path, { reason: 'too_large', bytes: found.bytes, mtime: '0' });
    else if (isKept) await storeSource(top, { path: change.path, oid: found.oid, writer });
    settled.push({ ...change, new: isSkipped ? null : wanted });
  }
  if (settled.length === 0) return snapshot;
  const { root } = objects.applyChanges(set.after.root, settled);
  const taken = await commitTree(deps, {
    ...{ folder, state: deps.states.of(folder), writer, root, parent: set.after },
    manifest: { ...set.after.manifest, skipped, empty: objects.emptyFolders(root) },
    message: 'settled for a publish',
    seconds: record.created_at,
  });
  return taken.id;
}

/** Files with another content than the run's since an earlier publish, because of a person's resolution. */
async function settledBefore(
  deps: Deps,
  input: Pick<DirectoryInput, 'folder' | 'record'>,
  set: ChangeSet,
): Promise<objects.Change[]> {
  const last = lastPublished(input.folder);
  if (last === undefined || last.candidate === last.snapshot) return [];
  const { changes } = await changeSet(deps, { ...scopeOf(input), from: last.snapshot, to: last.candidate });
  const changed = new Set(set.changes.map(({ path }) => path));
  return changes.filter(({ path }) => !changed.has(path));
}

/** Folders above deleted files, deepest first. */
function parentsOf(deleted: ReadonlySet<string>): string[] {
  const parents = new Set<string>();
  for (const path of deleted) {
    const names = path.split('/');
    for (let depth = names.length - 1; depth > 0; depth--) parents.add(names.slice(0, depth).join('/'));
  }
  return [...parents].sort((a, b) => b.split('/').length - a.split('/').length);
}
