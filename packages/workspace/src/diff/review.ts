import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import type { LeftOut } from '@holdpoint/contract';
import type { Deps, DiffRequest } from '../deps.ts';
import { fromPlain, fromText, isWithin, isWithinAny } from '../files/index.ts';
import { changedPaths } from '../host-git/changed-paths.ts';
import { changedRepositories, summarise } from '../left-out/changed-repositories.ts';
import { findLeftOut, submoduleFolders } from '../left-out/find-left-out.ts';
import { manifestOf } from '../read/files.ts';
import * as folders from '../run-folder/index.ts';
import { createSelection } from '../source/import-context.ts';
import { applyChanges, type Change, createObjectWriter, type Folder } from '../store/objects/index.ts';
import { assertSnapshot, loadSnapshot, readManifests } from '../tree/index.ts';

/** A comparison of two snapshots for a person, without the changes left out of a publish. */
export interface Review {
  folder: folders.RunFolder;
  from: string;
  /** The newer snapshot, or a copy of its tree without the left out changes. */
  to: string;
  /** Objects of the newer tree, in a repository of their own. */
  objects: string | undefined;
  /** Differences, without the left out and the unreadable changes. */
  changes: Change[];
  /** Changes with a lost or damaged object: `to` has the older version of the file. */
  unreadable: Change[];
  left_out: LeftOut[];
  [Symbol.dispose](): void;
}

/**
 * Compares names first, within a millisecond: when the run only edited files of the source, nothing can be left out and no tree is loaded.
 * Otherwise git compares with a temporary tree, without reading 58,000 files below `node_modules/`.
 * @param damaged ids of blobs that git cannot read
 */
export async function reviewChanges(
  deps: Deps,
  request: DiffRequest,
  damaged: ReadonlySet<string> = new Set(),
): Promise<Review> {
  const folder = folders.runFolder(deps.dataDir, request.runId);
  const record = folders.requireRecord(folder);
  const { from, to } = request;
  for (const id of [from, to]) assertSnapshot(folder, id);
  const isWanted = within(request.path);
  const changes = (await changedPaths(deps, { folder, from, to })).filter(({ path }) => isWanted(path));
  const unknown = (await manifestOf(deps, { runId: folder.runId, snapshot: to })).skipped;
  const skipped = new Map([...(await newlySkipped(deps, folder, request))].filter(([path]) => isWanted(path)));
  const isUnknown = ({ path }: Change) => isWithinAny(unknown, path);
  const isDamaged = (change: Change) => oidsOf(change).some((oid) => damaged.has(oid));
  const repositories = await changedRepositories(deps, { folder, from, to });
  const whole: Review = {
    ...{ folder, from, to, objects: undefined, changes, unreadable: [], [Symbol.dispose]: () => {} },
    left_out: repositories.filter(({ path }) => path === null || isWanted(fromText(path))),
  };
  if (
    skipped.size === 0 &&
    !changes.some((change) => isUnknown(change) || isDamaged(change)) &&
    !(await mayLeaveOut(deps, { folder, record, request, changes }))
  )
    return whole;

  const state = deps.states.of(folder);
  const { root: base } = await loadSnapshot(deps, { folder, state, id: record.base });
  const { root } = await loadSnapshot(deps, { folder, state, id: to });
  const scope = { folder, record, tracked: [base], includeIgnored: request.includeIgnored === true };
  const asked = [...changes, ...[...skipped.keys()].map((path) => ({ path }))];
  const reasons = await findLeftOut(deps, scope, { root, changes: asked });
  const left_out = [
    ...whole.left_out,
    ...(await summarise(deps, { folder, changes, reasons, skipped, base, damaged })),
  ];
  // For a path with unknown content, the snapshot has an older version. The older version must not be shown as the current content.
  const isLeftOut = (change: Change) => reasons.has(change.path) || isUnknown(change);
  const isOut = (change: Change) => isLeftOut(change) || isDamaged(change);
  const unreadable = changes.filter((change) => isDamaged(change) && !isLeftOut(change));
  const out = changes.filter(isOut);
  if (out.length === 0) return { ...whole, left_out };
  const kept = changes.filter((change) => !isOut(change));
  return { ...whole, ...(await writeWithout(deps, root, out)), changes: kept, unreadable, left_out };
}

/** Ids of both versions of a file. */
export const oidsOf = ({ old, new: now }: Change): string[] => [old, now].flatMap((leaf) => leaf?.oid ?? []);

/** A path at the port is plain or quoted text. */
export function within(path: string | undefined): (path: string) => boolean {
  if (path === undefined || path === '') return () => true;
  const [text, plain] = [fromText(path), fromPlain(path)];
  return (other) => isWithin(other, text) || isWithin(other, plain);
}

async function newlySkipped(
  deps: Deps,
  folder: folders.RunFolder,
  { from, to }: DiffRequest,
): Promise<Map<string, folders.Skipped>> {
  const [before, after] = await readManifests(deps, { folder, state: deps.states.of(folder), ids: [from, to] });
  return new Map(
    [...(after?.skipped ?? [])].filter(([path, skip]) => !folders.isSameSkip(before?.skipped.get(path), skip)),
  );
}

/** Whether a changed path is new to the source or excluded by its globs. */
async function mayLeaveOut(
  deps: Deps,
  input: {
    folder: folders.RunFolder;
    record: folders.WorkspaceRecord;
    request: DiffRequest;
    changes: readonly Change[];
  },
): Promise<boolean> {
  const { folder, record, request, changes } = input;
  const { source } = record;
  if (source.type === 'empty' || changes.length === 0) return false;
  const selection = createSelection(source);
  if (changes.some(({ path }) => !selection.has(path)) || folders.preparedSnapshot(folder) !== undefined) return true;
  const isInSubmodule = submoduleFolders(record);
  if (changes.some(({ path }) => isInSubmodule(path))) return true;
  if (source.type !== 'git' || request.includeIgnored === true) return false;
  if (request.from === record.base) return changes.some(({ old }) => old === null);
  const made = new Set<string>();
  for (const to of [request.from, request.to]) {
    const since = await changedPaths(deps, { folder, from: record.base, to });
    for (const { path, old } of since) if (old === null) made.add(path);
  }
  return changes.some(({ path }) => made.has(path));
}

/** Writes the changed trees into a temporary repository, because a read must leave nothing in the run's repository. */
async function writeWithout(
  deps: Deps,
  root: Folder,
  out: readonly Change[],
): Promise<Pick<Review, 'to' | 'objects' | typeof Symbol.dispose>> {
  const scratch = mkdtempSync(joinPath(deps.dataDir, 'git', 'tmp-review-'));
  const remove = () => rmSync(scratch, { recursive: true, force: true });
  try {
    mkdirSync(joinPath(scratch, 'objects', 'pack'), { recursive: true });
    const writer = createObjectWriter({ gitDir: scratch, known: new Set() });
    const to = await writer.root(
      applyChanges(
        root,
        out.map((change) => ({ ...change, new: change.old })),
      ).root,
    );
    await writer.flush();
    return { to, objects: joinPath(scratch, 'objects'), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
