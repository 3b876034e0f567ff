import type { Conflict } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { toText } from '../../files/path-name.ts';
import type { PublishResult } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import { changeSet, leftOutOf } from '../change-set.ts';
import { applyJournal, stepsOf, wayOf } from './apply-journal.ts';
import type { Objection } from './journal-step.ts';
import { openTarget } from './open-target.ts';
import { type DirectoryInput, isPublished, planDirectory, requestId, scopeOf } from './plan-directory.ts';
import { type Journal, readJournal, removeJournal, writeJournal, writeLastPublished } from './publish-journal.ts';
import { settleBack } from './settle-aside.ts';
import { withSourceLock } from './source-lock.ts';

type Asked = Omit<DirectoryInput, 'place'>;

/**
 * Publishes into the source directory, all or nothing, also across crashes:
 *
 * 1. every path must still be what the run started from, else it is a conflict and nothing is written;
 * 2. a journal of old and new states is written durably: the commit point;
 * 3. each path is looked at again; then what is there is taken from its name, and the new file, on disk by then, is linked to it;
 * 4. what was taken away is looked at once more, when no program has it open for writing, and removed;
 * 5. the journal goes.
 *
 * A call that finds a journal first brings that one to its end. Contents need no staging: they lie in the shadow repository, on
 * disk since the snapshot. Should somebody change a file after the commit point, theirs stays and what was written is taken back.
 *
 * So a program that writes at any instant loses nothing. What it wrote to the file that was taken away turns the publish back, and that file
 * returns to its name; what it put under the name meanwhile stays there, and the file that cannot return is kept beside it. A name is absent
 * for two system calls (Node offers no exchange of two names), or until the next call when the process dies between them.
 *
 * Not seen: writers whose descriptors this process may not read (another user's, when it is not root; another host's) that were open before
 * the file was taken away and write after the publish has ended; and, where there are no hard links, a file made in those two calls.
 */
export async function publishDirectory(deps: Deps, asked: Asked & { expect: string }): Promise<PublishResult> {
  const { folder, record } = asked;
  return withSourceLock(deps, record.origin ?? '', async () => {
    using place = openTarget(deps, record);
    const input = { ...asked, place };
    const unfinished = await settlePublish(deps, input);
    if (unfinished.length > 0) return { status: 'conflict', conflicts: unfinished };
    const { plan, journal } = await planDirectory(deps, input);
    if (isPublished(input)) return published(deps, input, plan.candidate);
    if (plan.digest !== input.expect) return { status: 'moved' };
    if (plan.conflicts.length > 0 || place === undefined) return { status: 'conflict', conflicts: plan.conflicts };
    deps.onPoint('publish.checked');
    const begun: Journal = {
      ...{ format: 1, snapshot: input.snapshot, candidate: plan.candidate, request: requestId(input) },
      ...{ digest: plan.digest, direction: 'forward', conflicts: [], ...journal },
    };
    await writeJournal(folder, begun);
    deps.onPoint('publish.committed');
    const conflicts = await finish(deps, folder, place.path, begun);
    return conflicts.length > 0 ? { status: 'conflict', conflicts } : published(deps, input, plan.candidate);
  });
}

/** Brings a publish that was interrupted to its end, if there is one; one that is still under way is waited for. */
export async function recoverPublish(deps: Deps, input: Pick<DirectoryInput, 'folder' | 'record'>): Promise<void> {
  if (readJournal(input.folder) === undefined) return;
  await withSourceLock(deps, input.record.origin ?? '', async () => {
    using place = openTarget(deps, input.record);
    await settlePublish(deps, { ...input, place });
  });
}

/** Forward, or back when it met a conflict. Answers with the conflicts. A source that is gone has nothing left to settle. */
async function settlePublish(
  deps: Deps,
  { folder, place }: Pick<DirectoryInput, 'folder' | 'place'>,
): Promise<Conflict[]> {
  const journal = readJournal(folder);
  return journal === undefined || place === undefined ? [] : finish(deps, folder, place.path, journal);
}

/** Brings a journal to its end; answers with the conflicts that turned it back, if any did. */
async function finish(deps: Deps, folder: RunFolder, root: string, journal: Journal): Promise<Conflict[]> {
  let current = journal;
  if (current.direction === 'forward') {
    const met = await applyJournal(deps, { folder, root, journal: current });
    if (met.length === 0) {
      await writeLastPublished(folder, current);
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
  const kept = await settleBack(wayOf({ folder, root, journal: current }), stepsOf(current));
  const conflicts = merged([...current.conflicts, ...left, ...kept.map(({ objection }) => objection)]);
  // The answer names what is kept, also when this process dies before it answers.
  if (kept.length > 0) await writeJournal(folder, { ...current, conflicts });
  deps.onPoint('publish.kept');
  for (const { release } of kept) await release();
  await removeJournal(folder);
  return conflicts.map(({ path, detail, kept: beside }) => ({
    path: toText(path),
    reason: 'changed_in_source',
    detail: beside === undefined ? detail : `${detail} Its name is ${toText(beside)}`,
  }));
}

/** One conflict per path, the one that names a file that was kept before the others. */
function merged(objections: readonly Objection[]): Objection[] {
  const byPath = new Map<string, Objection>();
  for (const one of objections) {
    if (one.kept !== undefined || !byPath.has(one.path)) byPath.set(one.path, one);
  }
  return [...byPath.values()];
}

async function published(deps: Deps, input: DirectoryInput, candidate: string): Promise<PublishResult> {
  const { record, snapshot } = input;
  const scope = scopeOf(input);
  const { changes } = await changeSet(deps, { ...scope, from: record.base, to: candidate });
  const left_out = await leftOutOf(deps, { ...scope, to: snapshot });
  const deleted = changes.filter((change) => change.new === null).length;
  return {
    status: 'published',
    published: {
      type: 'directory',
      path: record.source.type === 'directory' ? record.source.path : '',
      files_written: changes.length - deleted,
      files_deleted: deleted,
      left_out,
    },
  };
}
