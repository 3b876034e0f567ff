import { existsSync } from 'node:fs';
import type { Deps } from '../deps.ts';
import { toText } from '../files/path-name.ts';
import type { Conflict, PublishResult, SnapshotId } from '../port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { WorkspaceRecord } from '../run/workspace-record.ts';
import { loadSnapshot } from '../tree/load-snapshot.ts';
import type { Change } from '../tree/tree.ts';
import { changesBetween } from '../tree/tree.ts';
import { applyJournal } from './apply-journal.ts';
import { planPublish } from './plan-publish.ts';
import type { Journal } from './publish-journal.ts';
import { lastPublished, readJournal, removeJournal, writeJournal, writeLastPublished } from './publish-journal.ts';

interface Input {
  folder: RunFolder;
  record: WorkspaceRecord;
  snapshot: SnapshotId;
}

/**
 * Publishes into the source directory, all or nothing, also across crashes:
 *
 * 1. every path must still be what the run started from, else it is a conflict and nothing is written;
 * 2. a journal of old and new states is written durably: the commit point;
 * 3. each path is looked at again and then replaced (tmp, fsync, rename, fsync of the folder);
 * 4. the journal goes.
 *
 * A call that finds a journal first brings that one to its end. Contents need no staging: they lie in the shadow repository, on
 * disk since the snapshot. Should somebody change a file after the commit point, theirs stays and what was written is taken back.
 *
 * Between the last look and the rename of one file lie some microseconds in which another program's write can be lost: Node
 * offers no exchange of two names. New files have no such window; they are linked into place, which fails on an existing name.
 */
export async function publishDirectory(deps: Deps, input: Input): Promise<PublishResult> {
  const { folder, record } = input;
  const root = record.origin ?? '';
  if (!existsSync(root)) {
    const detail = 'The directory is not where it was.';
    return { status: 'conflict', conflicts: [{ path: root, reason: 'source_missing', detail }] };
  }
  const unfinished = await settlePublish(deps, { folder, record });
  if (unfinished.length > 0) return { status: 'conflict', conflicts: unfinished };
  const last = lastPublished(folder);
  if (last === input.snapshot) return published(input, await changes(deps, input, record.base));

  const wanted = await changes(deps, input, last ?? record.base);
  const state = deps.states.of(folder);
  const { root: before } = await loadSnapshot(deps, { folder, state, id: last ?? record.base });
  const { root: after } = await loadSnapshot(deps, { folder, state, id: input.snapshot });
  const plan = await planPublish(root, { wanted, before, after });
  if (plan.conflicts.length > 0) return { status: 'conflict', conflicts: plan.conflicts };
  deps.onPoint('publish.checked');
  const journal: Journal = {
    format: 1,
    snapshot: input.snapshot,
    direction: 'forward',
    conflicts: [],
    ...plan.journal,
  };
  await writeJournal(folder, journal);
  deps.onPoint('publish.committed');
  const conflicts = await finish(deps, folder, root, journal);
  if (conflicts.length > 0) return { status: 'conflict', conflicts };
  return published(input, await changes(deps, input, record.base));
}

/**
 * Brings a publish that was interrupted to its end, if there is one: forward, or back when it met a conflict. Answers with the
 * conflicts. A source that is gone has nothing left to settle.
 */
export async function settlePublish(deps: Deps, input: Pick<Input, 'folder' | 'record'>): Promise<Conflict[]> {
  const journal = readJournal(input.folder);
  const root = input.record.origin ?? '';
  if (journal === undefined || !existsSync(root)) return [];
  return finish(deps, input.folder, root, journal);
}

/** Brings a journal to its end; answers with the conflicts that turned it back, if any did. */
async function finish(deps: Deps, folder: RunFolder, root: string, journal: Journal): Promise<Conflict[]> {
  let current = journal;
  if (current.direction === 'forward') {
    const met = await applyJournal(deps, { folder, root, journal: current });
    if (met.length === 0) {
      await writeLastPublished(folder, current.snapshot);
      deps.onPoint('publish.recorded');
      await removeJournal(folder);
      deps.onPoint('publish.done');
      return [];
    }
    current = { ...current, direction: 'back', conflicts: met };
    deps.logger.warn({ runId: folder.runId, conflicts: met }, 'source changed during a publish: taking it back');
    await writeJournal(folder, current);
    deps.onPoint('publish.turned');
  }
  const left = await applyJournal(deps, { folder, root, journal: current });
  deps.onPoint('publish.taken-back');
  await removeJournal(folder);
  const seen = new Set<string>();
  return [...current.conflicts, ...left]
    .filter(({ path }) => !seen.has(path) && seen.add(path))
    .map(({ path, detail }) => ({ path: toText(path), reason: 'changed_in_source', detail }));
}

/** Files that differ between two snapshots, without the paths that the newer one skipped. */
async function changes(deps: Deps, input: Input, from: SnapshotId): Promise<Change[]> {
  const { folder, snapshot } = input;
  const state = deps.states.of(folder);
  const before = await loadSnapshot(deps, { folder, state, id: from });
  const after = await loadSnapshot(deps, { folder, state, id: snapshot });
  return changesBetween(before.root, after.root).filter(({ path }) => !isSkipped(after.manifest.skipped, path));
}

function isSkipped(skipped: ReadonlyMap<string, unknown>, path: string): boolean {
  const names = path.split('/');
  return names.some((_, index) => skipped.has(names.slice(0, index + 1).join('/')));
}

function published(input: Input, wanted: readonly Change[]): PublishResult {
  const deleted = wanted.filter((change) => change.new === null).length;
  return {
    status: 'published',
    published: {
      type: 'directory',
      path: input.record.source.type === 'directory' ? input.record.source.path : '',
      files_written: wanted.length - deleted,
      files_deleted: deleted,
    },
  };
}
