import type { Deps, RunFolder } from '../../deps.ts';
import { openChain, openTop, removeIfEmpty, syncPath } from '../../files/index.ts';
import { streamBlobs } from '../../host-git/stream-blobs.ts';
import { clearAfterPublish } from './clear-aside.ts';
import * as journalStep from './journal-step.ts';
import { createPlacer, type DueStep, makeParents, parentReplaced, swapIn } from './place-file.ts';
import { findAside, putAside, removeName } from './private-name.ts';

interface Input {
  folder: RunFolder;
  root: string;
  journal: journalStep.Journal;
}

/**
 * Brings every path of a journal to its new state (forward) or to its old state (rollback). Finished steps are skipped, so a process may
 * repeat the pass after a crash at any point. Another program changed a path in neither state: such a path is left alone and reported, and a
 * forward pass writes nothing more.
 *
 * No file is overwritten or unlinked directly: the old file is renamed to a private name and checked again when all paths are done. A
 * rollback renames the old file back.
 */
export async function applyJournal(deps: Deps, input: Input): Promise<journalStep.StepConflict[]> {
  const { root, journal } = input;
  const forward = journal.direction === 'forward';
  const steps = stepsOf(journal);
  const pass = passOf(input);
  const conflicts: journalStep.StepConflict[] = [];
  for (const step of steps) conflicts.push(...(await journalStep.prepareStep(pass, step)));
  if (!forward || conflicts.length === 0)
    conflicts.push(...(await removeFiles(deps, pass, { steps, stopAtFirst: forward })));
  if (forward && conflicts.length > 0) return conflicts;
  // A folder made by the forward pass may stand where the rollback restores a file.
  if (!forward) await removeFolders(root, journal.made.toReversed());
  conflicts.push(...(await writeFiles(deps, input, { pass, steps, stopAtFirst: forward })));
  if (!forward || conflicts.length > 0) return conflicts;
  conflicts.push(...(await clearAfterPublish(deps, pass, steps)));
  if (conflicts.length === 0) await removeFolders(root, journal.emptied);
  return conflicts;
}

export function stepsOf({ direction, entries }: journalStep.Journal): journalStep.Step[] {
  return entries.map(({ path, old, new: now }) => {
    return direction === 'forward' ? { path, from: old, to: now } : { path, from: now, to: old };
  });
}

export function passOf({ folder, root, journal }: Input): journalStep.Pass {
  const transientFolders = new Set([...journal.made, ...journal.emptied]);
  return {
    aside: { root, runId: folder.runId, transientFolders },
    role: journal.direction === 'forward' ? 'old' : 'new',
    halfDone: new Set(),
    folders: journal.folders,
  };
}

interface Steps {
  steps: readonly journalStep.Step[];
  stopAtFirst: boolean;
}

async function removeFiles(deps: Deps, pass: journalStep.Pass, input: Steps): Promise<journalStep.StepConflict[]> {
  const conflicts: journalStep.StepConflict[] = [];
  for (const step of input.steps) {
    if (step.to !== null || (input.stopAtFirst && conflicts.length > 0)) continue;
    const { path } = step;
    const { names, name } = journalStep.splitPath(path);
    using top = openTop(pass.aside.root);
    using directory = openChain(top, names);
    const verdict = await journalStep.checkStep(pass, step);
    if (verdict === 'due' && directory !== undefined) {
      if (!putAside(pass.aside, { path, role: pass.role, directory, name }))
        conflicts.push(journalStep.changedMeanwhile(path));
      await syncPath(directory.self);
      deps.onPoint('publish.removed');
    } else if (typeof verdict === 'object') {
      conflicts.push(verdict);
    }
  }
  return conflicts;
}

async function writeFiles(
  deps: Deps,
  input: Input,
  { pass, steps, stopAtFirst }: Steps & { pass: journalStep.Pass },
): Promise<journalStep.StepConflict[]> {
  const conflicts: journalStep.StepConflict[] = [];
  const due: DueStep[] = [];
  for (const { path, from, to } of steps) {
    if (to === null) continue;
    const step = { path, from, to };
    const verdict = await journalStep.checkStep(pass, step);
    if (verdict === 'due') {
      const returned = pass.role === 'new' ? await restoreOld(deps, pass, step) : 'none';
      if (returned === 'none') due.push(step);
      else if (returned !== 'done') conflicts.push(returned);
    } else if (verdict !== 'done') {
      conflicts.push(verdict);
    }
  }
  if (stopAtFirst && conflicts.length > 0) return conflicts;
  const placer = createPlacer(deps, { pass, due, stopAtFirst });
  try {
    const oids = due.map(({ to }) => to.oid);
    await streamBlobs({ git: deps.git }, { gitDir: input.folder.shadow, oids }, placer);
  } finally {
    placer.close();
  }
  if (placer.stripped.length > 0) {
    const { runId } = input.folder;
    const message = 'ACLs and extended attributes of replaced files could not be copied';
    deps.logger.warn({ run_id: runId, paths: placer.stripped }, message);
  }
  return [...conflicts, ...placer.conflicts];
}

/** Rollback: renames the original file back, with all later writes of another program. */
async function restoreOld(
  deps: Deps,
  pass: journalStep.Pass,
  step: DueStep,
): Promise<'none' | 'done' | journalStep.StepConflict> {
  const old = findAside(pass.aside, step.path, 'old');
  if (old === undefined) return 'none';
  using from = old.directory;
  const { names, name } = journalStep.splitPath(step.path);
  using directory = makeParents(deps, pass, names);
  if (directory === undefined) return parentReplaced(step.path);
  const incoming = { directory: from, temporary: old.name };
  const conflict = swapIn(deps, pass, { step, directory, name, incoming });
  if (conflict !== undefined) return conflict;
  await syncPath(directory.self);
  removeName(from, old.name);
  await syncPath(from.self);
  deps.onPoint('publish.returned');
  return 'done';
}

/** Removes the empty folders. */
async function removeFolders(root: string, paths: readonly string[]): Promise<void> {
  using top = openTop(root);
  for (const path of paths) {
    const { names, name } = journalStep.splitPath(path);
    using directory = openChain(top, names);
    if (directory !== undefined && removeIfEmpty(directory, name)) await syncPath(directory.self);
  }
}
