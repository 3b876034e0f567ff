import { unlinkSync } from 'node:fs';
import type { Deps } from '../../deps.ts';
import { errnoOf } from '../../errors.ts';
import { openChain, openTop } from '../../files/open-directory.ts';
import { removeIfEmpty } from '../../files/remove-hollow.ts';
import { syncFolder } from '../../files/write-durably.ts';
import { streamBlobs } from '../../host-git/stream-blobs.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { Objection, Step } from './journal-step.ts';
import { judge, splitPath } from './journal-step.ts';
import type { DueStep } from './place-file.ts';
import { createPlacer, temporaryName } from './place-file.ts';
import type { Journal } from './publish-journal.ts';

interface Input {
  folder: RunFolder;
  root: string;
  journal: Journal;
}

/**
 * Brings every path of a journal to its new state, or back to its old one. Steps that are done already are passed over, so it can
 * be repeated after dying anywhere. A path that is in neither state belongs to somebody else: it is left as it is and reported,
 * and on the way forward nothing more is written.
 */
export async function applyJournal(deps: Deps, input: Input): Promise<Objection[]> {
  const { root, journal } = input;
  const forward = journal.direction === 'forward';
  const steps = journal.entries.map(({ path, old, new: now }): Step => {
    return forward ? { path, from: old, to: now } : { path, from: now, to: old };
  });
  for (const { path } of steps) dropTemporary(input, path);
  const met = await removeFiles(deps, root, { steps, stopAtFirst: forward });
  if (forward && met.length > 0) return met;
  // Folders made on the way forward may stand where a file has to come back.
  if (!forward) await removeFolders(root, journal.made.toReversed());
  met.push(...(await writeFiles(deps, input, { steps, stopAtFirst: forward })));
  if (forward && met.length === 0) await removeFolders(root, journal.emptied);
  return met;
}

interface Steps {
  steps: readonly Step[];
  stopAtFirst: boolean;
}

async function removeFiles(deps: Deps, root: string, input: Steps): Promise<Objection[]> {
  const met: Objection[] = [];
  for (const step of input.steps) {
    if (step.to !== null || (input.stopAtFirst && met.length > 0)) continue;
    const { names, name } = splitPath(step.path);
    using top = openTop(root);
    using directory = openChain(top, names);
    const verdict = await judge(root, step);
    if (verdict === 'due' && directory !== undefined) {
      unlinkSync(directory.at(name));
      await syncFolder(directory.self);
      deps.onPoint('publish.removed');
    } else if (typeof verdict === 'object') {
      met.push(verdict);
    }
  }
  return met;
}

async function writeFiles(deps: Deps, input: Input, { steps, stopAtFirst }: Steps): Promise<Objection[]> {
  const met: Objection[] = [];
  const due: DueStep[] = [];
  for (const { path, from, to } of steps) {
    if (to === null) continue;
    const verdict = await judge(input.root, { path, from, to });
    if (verdict === 'due') due.push({ path, from, to });
    else if (verdict !== 'done') met.push(verdict);
  }
  if (stopAtFirst && met.length > 0) return met;
  const placer = createPlacer(deps, {
    ...{ root: input.root, runId: input.folder.runId, due, stopAtFirst },
    folders: input.journal.folders,
  });
  try {
    const oids = due.map(({ to }) => to.oid);
    await streamBlobs({ git: deps.git }, { gitDir: input.folder.shadow, oids }, placer);
  } finally {
    placer.close();
  }
  return [...met, ...placer.objections];
}

/** Removes those of the folders that are empty. */
async function removeFolders(root: string, paths: readonly string[]): Promise<void> {
  using top = openTop(root);
  for (const path of paths) {
    const { names, name } = splitPath(path);
    using directory = openChain(top, names);
    if (directory !== undefined && removeIfEmpty(directory, name)) await syncFolder(directory.self);
  }
}

/** Removes the temporary file of an attempt that died. */
function dropTemporary(input: Input, path: string): void {
  using top = openTop(input.root);
  using directory = openChain(top, splitPath(path).names);
  if (directory === undefined) return;
  try {
    unlinkSync(directory.at(temporaryName(input.folder.runId, path)));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
