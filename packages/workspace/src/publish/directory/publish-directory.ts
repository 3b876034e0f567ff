import { createHash } from 'node:crypto';
import { lstatSync, lutimesSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Conflict } from '@holdpoint/contract';
import { identify, pidScope } from '@holdpoint/process';
import { type Deps, errnoOf, type PublishResult, type RunFolder, WorkspaceError } from '../../deps.ts';
import { toText } from '../../files/index.ts';
import { findDamaged } from '../../host-git/find-damaged.ts';
import { changeSet, leftOutOf } from '../index.ts';
import { applyJournal, passOf, stepsOf } from './apply-journal.ts';
import { clearAfterRollback } from './clear-aside.ts';
import * as journalStep from './journal-step.ts';
import { openTarget } from './open-target.ts';
import { type DirectoryInput, isPublished, planDirectory, requestId, scopeOf } from './plan-directory.ts';

const pollMs = 20;
const longestMs = 120_000;
const touchMs = 10_000;
/** A lock of another container counts as abandoned after this time without a touch. */
const staleMs = 60_000;

/**
 * Runs `work` while no other process of this host writes to the same source directory. The lock is a symbolic link with its owner as the
 * target: link and content appear in a single step. A waiter breaks the lock of a dead owner. A stopped owner counts as alive: the owner
 * may continue and write, and two processes would finish two journals concurrently. An owner in another container cannot be checked: its
 * lock is broken after a minute without a touch.
 */
export async function withSourceLock<T>(
  deps: Pick<Deps, 'dataDir' | 'onPoint'>,
  source: string,
  work: () => Promise<T>,
): Promise<T> {
  const folder = join(deps.dataDir, 'locks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = join(folder, createHash('sha256').update(source).digest('hex').slice(0, 32));
  const until = performance.now() + longestMs;
  while (!take(lock)) {
    if (breakAbandoned(lock)) continue;
    if (performance.now() > until) throw new WorkspaceError('ESOURCEBUSY', `Another publish to ${source} is running.`);
    deps.onPoint('publish.waiting');
    await wait(pollMs);
  }
  const touching = setInterval(() => touch(lock), touchMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    symlinkSync(`${pidScope()} ${process.pid} ${identify(process.pid)?.start} ${counter++}`, lock);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

// Makes two locks of the same process different.
let counter = 0;

function touch(lock: string): void {
  try {
    lutimesSync(lock, new Date(), new Date());
  } catch {
    // Another process presumed this process dead and broke the lock. Each file is checked again before its write.
  }
}

/** A single process at a time: a slow process must not remove the fresh lock made after the abandoned lock. */
function breakAbandoned(lock: string): boolean {
  if (!isAbandoned(lock)) return false;
  const guard = `${lock}.break`;
  if (!take(guard)) {
    if (isAbandoned(guard)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function isAbandoned(lock: string): boolean {
  try {
    const [place, pid, start] = readlinkSync(lock).split(' ');
    if (place === pidScope()) return String(identify(Number(pid))?.start) !== start;
    return Date.now() - lstatSync(lock).mtimeMs > staleMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

type Input = Omit<DirectoryInput, 'opened'>;

/**
 * Publishes into the source directory, all or nothing, also across crashes:
 *
 * 1. Every path must still be in the state at the run's start; otherwise the publish is a conflict and nothing is written.
 *    Every new content is read once: nothing is written when an object of the run is damaged.
 * 2. A journal of old and new states is written durably. This is the commit point.
 * 3. For each path: the new file is written and fsynced, the path is checked again, the old file is set aside, the new file gets its name.
 * 4. Each old file is checked once more when no program has it open for writing, then removed.
 * 5. The journal is removed.
 *
 * A call with a journal on disk finishes the journal's publish first. Contents need no staging: they are in the shadow repository, on disk since
 * the snapshot. When another program changes a file after the commit point, its change stays and the publish is rolled back.
 *
 * So a program writing at any instant loses nothing. A write to the file set aside causes a rollback, and the file gets its name back. A file
 * created under the name stays, and the old file is kept next to the new file. A name is absent for two system calls (Node cannot exchange two
 * names), or until the next call when the process dies between them.
 *
 * Two cases are invisible. First, a writer with unreadable descriptors (another user's, when this process is not root; another host's), with the
 * file open from before the set-aside and a write after the publish. Second, without hard links, a file created between the two calls.
 */
export async function publishDirectory(deps: Deps, request: Input & { expect: string }): Promise<PublishResult> {
  const { folder, record } = request;
  return withSourceLock(deps, record.origin ?? '', async () => {
    using opened = openTarget(deps, record);
    const input = { ...request, opened };
    const unfinished = await finishPending(deps, input);
    if (unfinished.length > 0) return { status: 'conflict', conflicts: unfinished };
    const { plan, journal } = await planDirectory(deps, input);
    if (isPublished(input)) return published(deps, input, plan.candidate);
    if (plan.digest !== input.expect) return { status: 'moved' };
    if (plan.conflicts.length > 0 || opened === undefined) return { status: 'conflict', conflicts: plan.conflicts };
    await assertContents(deps, folder, journal);
    deps.onPoint('publish.checked');
    const begun: journalStep.Journal = {
      ...{ format: 1, snapshot: input.snapshot, candidate: plan.candidate, request: requestId(input) },
      ...{ digest: plan.digest, direction: 'forward', conflicts: [], ...journal },
    };
    await journalStep.writeJournal(folder, begun);
    deps.onPoint('publish.committed');
    const conflicts = await finish(deps, folder, opened.path, begun);
    return conflicts.length > 0 ? { status: 'conflict', conflicts } : published(deps, input, plan.candidate);
  });
}

/** A lost or damaged content found behind the commit point would leave the source half-way for ever: all of it is read before. */
async function assertContents(
  deps: Deps,
  folder: RunFolder,
  { entries }: Pick<journalStep.Journal, 'entries'>,
): Promise<void> {
  const oids = entries.flatMap(({ new: now }) => now?.oid ?? []);
  const damaged = await findDamaged(deps, { gitDir: folder.shadow, oids });
  if (damaged.size === 0) return;
  const lost = entries.filter(({ new: now }) => damaged.has(now?.oid ?? ''));
  throw new WorkspaceError(
    'EWORKSPACECORRUPT',
    `${lost.length} of ${oids.length} files cannot be published, and the source is unchanged: their content is damaged.`,
  );
}

/** Finishes an interrupted publish, if any. Waits for a publish in progress. */
export async function recoverPublish(deps: Deps, input: Pick<DirectoryInput, 'folder' | 'record'>): Promise<void> {
  if (journalStep.readJournal(input.folder) === undefined) return;
  await withSourceLock(deps, input.record.origin ?? '', async () => {
    using opened = openTarget(deps, input.record);
    await finishPending(deps, { ...input, opened });
  });
}

/** Finishes the journal on disk. A lost source leaves nothing to finish. */
async function finishPending(
  deps: Deps,
  { folder, opened }: Pick<DirectoryInput, 'folder' | 'opened'>,
): Promise<Conflict[]> {
  const journal = journalStep.readJournal(folder);
  return journal === undefined || opened === undefined ? [] : finish(deps, folder, opened.path, journal);
}

/** Completes a journal, or rolls the journal back on a conflict. @returns the conflicts behind the rollback */
async function finish(deps: Deps, folder: RunFolder, root: string, journal: journalStep.Journal): Promise<Conflict[]> {
  let current = journal;
  if (current.direction === 'forward') {
    const conflicts = await applyJournal(deps, { folder, root, journal: current });
    if (conflicts.length === 0) {
      await journalStep.writeLastPublished(folder, current);
      deps.onPoint('publish.recorded');
      await journalStep.removeJournal(folder);
      deps.onPoint('publish.done');
      return [];
    }
    current = { ...current, direction: 'back', conflicts };
    deps.logger.warn({ run_id: folder.runId, conflicts }, 'source changed during a publish: rolling back');
    await journalStep.writeJournal(folder, current);
    deps.onPoint('publish.turned');
  }
  const left = await applyJournal(deps, { folder, root, journal: current });
  deps.onPoint('publish.taken-back');
  const kept = await clearAfterRollback(passOf({ folder, root, journal: current }), stepsOf(current));
  const conflicts = mergeByPath([...current.conflicts, ...left, ...kept.map(({ conflict }) => conflict)]);
  // A later call still reports the kept files when this process dies before its answer.
  if (kept.length > 0) await journalStep.writeJournal(folder, { ...current, conflicts });
  deps.onPoint('publish.kept');
  for (const { release } of kept) await release();
  await journalStep.removeJournal(folder);
  return conflicts.map(({ path, detail, kept: beside }) => ({
    path: toText(path),
    reason: 'changed_in_source',
    detail: beside === undefined ? detail : `${detail} Its path is ${toText(beside)}`,
  }));
}

/** A conflict per path; a conflict with the name of a kept file wins. */
function mergeByPath(conflicts: readonly journalStep.StepConflict[]): journalStep.StepConflict[] {
  const byPath = new Map<string, journalStep.StepConflict>();
  for (const one of conflicts) {
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
