import { openChain, openTop, statIn } from '../../files/index.ts';
import { type Found, inspect, inspectChild } from './inspect-source.ts';
import { type AsideContext, findAside, privateName, removeName } from './private-name.ts';
import type { JournalEntry } from './publish-journal.ts';

/** A path and its state before and after. */
export interface Step {
  path: string;
  from: JournalEntry['old'];
  to: JournalEntry['new'];
}

/** A path changed by another program. */
export interface StepConflict {
  path: string;
  detail: string;
  /** Path of the version without a free name. */
  kept?: string | undefined;
}

/** A pass over a journal: forward or rollback. */
export interface Pass {
  aside: AsideContext;
  /** Role of the files set aside by this pass. */
  role: 'old' | 'new';
  /** Paths whose old file is set aside while the new file is still missing, because a process died in between. */
  halfDone: Set<string>;
  /** Permission bits of folders closed to others, by path. */
  folders: Readonly<Record<string, number>>;
}

/** Whether a step is done, due, or in conflict with another program. */
export async function checkStep(pass: Pass, step: Step): Promise<'done' | 'due' | StepConflict> {
  const found = await inspect(pass.aside.root, step.path);
  if (isState(found, step.to)) return 'done';
  // This publish has replaced the file by a folder.
  if (found.kind === 'directory' && step.to === null) return 'done';
  if (isState(found, step.from)) return 'due';
  // A folder whose files are deleted; the folder is removed when empty.
  if (found.kind === 'directory' && step.from === null) return 'due';
  if (found.kind === 'absent' && pass.halfDone.has(step.path)) return 'due';
  return changedMeanwhile(step.path);
}

export const changedMeanwhile = (path: string): StepConflict => ({
  path,
  detail: 'The file changed during the publish.',
});

export function isState(found: Found, state: JournalEntry['old']): boolean {
  if (state === null) return found.kind === 'absent' || found.kind === 'blocked';
  return found.kind === 'leaf' && found.mode === state.mode && found.oid === state.oid;
}

export function splitPath(path: string): { names: string[]; name: string } {
  const names = path.split('/');
  return { name: names.pop() ?? '', names };
}

/** Cleans up after a process with its death in the middle of a step. */
export async function prepareStep(pass: Pass, step: Step): Promise<StepConflict[]> {
  const { aside, role } = pass;
  const { path } = step;
  const { names, name } = splitPath(path);
  using top = openTop(aside.root);
  using directory = openChain(top, names);
  const temporary = privateName(aside.runId, path, 'tmp');
  const isStaged = directory !== undefined && statIn(directory, temporary) !== undefined;
  try {
    const away = findAside(aside, path, role);
    if (away === undefined) return [];
    using from = away.directory;
    const status = directory === undefined ? undefined : statIn(directory, name);
    if (status === undefined || directory === undefined) {
      if (step.to !== null && (isStaged || hasOld(pass, path))) pass.halfDone.add(path);
      return [];
    }
    if (status.ino === statIn(from, away.name)?.ino) {
      removeName(from, away.name);
      return [];
    }
    // Another program restored the old content under the name. The other program's file needs the private name next.
    if (!isState(await inspectChild(directory, name), step.from)) return [];
    if (!isState(await inspectChild(from, away.name), step.from)) return [changedMeanwhile(path)];
    removeName(from, away.name);
    return [];
  } finally {
    if (isStaged) removeName(directory, temporary);
  }
}

/** A rollback restores the old file from its private name. */
function hasOld({ aside, role }: Pass, path: string): boolean {
  if (role !== 'new') return false;
  const old = findAside(aside, path, 'old');
  old?.directory[Symbol.dispose]();
  return old !== undefined;
}
