import type { Deps } from '../../deps.ts';
import { openChain, openTop } from '../../files/open-directory.ts';
import { removeIfEmpty } from '../../files/remove-hollow.ts';
import { syncFolder } from '../../files/write-durably.ts';
import { streamBlobs } from '../../host-git/stream-blobs.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import { judge, type Objection, type Step, splitPath, type Way } from './journal-step.ts';
import { createPlacer, type DueStep, exchange, makeParents } from './place-file.ts';
import { changed, prepareStep } from './prepare-step.ts';
import { findAside, putAside, removeName } from './private-name.ts';
import type { Journal } from './publish-journal.ts';
import { settleForward } from './settle-aside.ts';

interface Input {
  folder: RunFolder;
  root: string;
  journal: Journal;
}

/**
 * Brings every path of a journal to its new state, or back to its old one. Steps that are done already are passed over, so it can
 * be repeated after dying anywhere. A path that is in neither state was changed by another program: it is left as it is and reported,
 * and on the way forward nothing more is written.
 *
 * Nothing is replaced and nothing is removed: what a path held is taken from its name, and looked at once more when all paths are done. On
 * the way back it returns to its name.
 */
export async function applyJournal(deps: Deps, input: Input): Promise<Objection[]> {
  const { root, journal } = input;
  const forward = journal.direction === 'forward';
  const steps = stepsOf(journal);
  const way = wayOf(input);
  const met: Objection[] = [];
  for (const step of steps) met.push(...(await prepareStep(way, step)));
  if (!forward || met.length === 0) met.push(...(await removeFiles(deps, way, { steps, stopAtFirst: forward })));
  if (forward && met.length > 0) return met;
  // Folders made on the way forward may stand where a file has to come back.
  if (!forward) await removeFolders(root, journal.made.toReversed());
  met.push(...(await writeFiles(deps, input, { way, steps, stopAtFirst: forward })));
  if (!forward || met.length > 0) return met;
  met.push(...(await settleForward(deps, way, steps)));
  if (met.length === 0) await removeFolders(root, journal.emptied);
  return met;
}

export function stepsOf({ direction, entries }: Journal): Step[] {
  return entries.map(({ path, old, new: now }) => {
    return direction === 'forward' ? { path, from: old, to: now } : { path, from: now, to: old };
  });
}

export function wayOf({ folder, root, journal }: Input): Way {
  const passing = new Set([...journal.made, ...journal.emptied]);
  return {
    aside: { root, runId: folder.runId, passing },
    role: journal.direction === 'forward' ? 'old' : 'new',
    halfWay: new Set(),
    folders: journal.folders,
  };
}

interface Steps {
  steps: readonly Step[];
  stopAtFirst: boolean;
}

async function removeFiles(deps: Deps, way: Way, input: Steps): Promise<Objection[]> {
  const met: Objection[] = [];
  for (const step of input.steps) {
    if (step.to !== null || (input.stopAtFirst && met.length > 0)) continue;
    const { path } = step;
    const { names, name } = splitPath(path);
    using top = openTop(way.aside.root);
    using directory = openChain(top, names);
    const verdict = await judge(way, step);
    if (verdict === 'due' && directory !== undefined) {
      if (!putAside(way.aside, { path, role: way.role, directory, name })) met.push(changed(path));
      await syncFolder(directory.self);
      deps.onPoint('publish.removed');
    } else if (typeof verdict === 'object') {
      met.push(verdict);
    }
  }
  return met;
}

async function writeFiles(
  deps: Deps,
  input: Input,
  { way, steps, stopAtFirst }: Steps & { way: Way },
): Promise<Objection[]> {
  const met: Objection[] = [];
  const due: DueStep[] = [];
  for (const { path, from, to } of steps) {
    if (to === null) continue;
    const step = { path, from, to };
    const verdict = await judge(way, step);
    if (verdict === 'due') {
      const returned = way.role === 'new' ? await returnOld(deps, way, step) : 'none';
      if (returned === 'none') due.push(step);
      else if (returned !== 'done') met.push(returned);
    } else if (verdict !== 'done') {
      met.push(verdict);
    }
  }
  if (stopAtFirst && met.length > 0) return met;
  const placer = createPlacer(deps, { way, due, stopAtFirst });
  try {
    const oids = due.map(({ to }) => to.oid);
    await streamBlobs({ git: deps.git }, { gitDir: input.folder.shadow, oids }, placer);
  } finally {
    placer.close();
  }
  if (placer.stripped.length > 0) {
    const { runId } = input.folder;
    const told = 'ACLs and extended attributes of files that were replaced could not be kept';
    deps.logger.warn({ runId, paths: placer.stripped }, told);
  }
  return [...met, ...placer.objections];
}

/** On the way back: the very file that was taken from the name, with all that another program has written to it since. */
async function returnOld(deps: Deps, way: Way, step: DueStep): Promise<'none' | 'done' | Objection> {
  const old = findAside(way.aside, step.path, 'old');
  if (old === undefined) return 'none';
  using from = old.directory;
  const { names, name } = splitPath(step.path);
  using directory = makeParents(deps, way, names);
  if (directory === undefined) return { path: step.path, detail: 'A folder on the way is not a folder any more.' };
  const incoming = { directory: from, temporary: old.name };
  const objection = exchange(deps, way, { step, directory, name, incoming });
  if (objection !== undefined) return objection;
  await syncFolder(directory.self);
  removeName(from, old.name);
  await syncFolder(from.self);
  deps.onPoint('publish.returned');
  return 'done';
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
