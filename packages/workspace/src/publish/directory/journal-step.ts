import { type Found, inspect } from './inspect-source.ts';
import type { AsideContext } from './private-name.ts';
import type { JournalEntry } from './publish-journal.ts';

/** One path and its state before and after. */
export interface Step {
  path: string;
  from: JournalEntry['old'];
  to: JournalEntry['new'];
}

/** A path that another program changed. */
export interface StepConflict {
  path: string;
  detail: string;
  /** Path of the version that could not stay under its name. */
  kept?: string | undefined;
}

/** One pass over a journal: forward or rollback. */
export interface Pass {
  aside: AsideContext;
  /** Role of the files that this pass sets aside. */
  role: 'old' | 'new';
  /** Paths whose old file is set aside while the new file is still missing, because a process died in between. */
  halfDone: Set<string>;
  /** Permission bits of folders that are closed to others, by path. */
  folders: Readonly<Record<string, number>>;
}

/** Whether a step is done, due, or in conflict with another program. */
export async function checkStep(pass: Pass, step: Step): Promise<'done' | 'due' | StepConflict> {
  const found = await inspect(pass.aside.root, step.path);
  if (isState(found, step.to)) return 'done';
  // This publish has replaced the file by a folder.
  if (found.kind === 'directory' && step.to === null) return 'done';
  if (isState(found, step.from)) return 'due';
  // A folder whose files are deleted; it is removed when it is empty.
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
