import { type Found, inspect } from './inspect-source.ts';
import type { Aside } from './private-name.ts';
import type { JournalEntry } from './publish-journal.ts';

/** One path on the way from one state to another. */
export interface Step {
  path: string;
  from: JournalEntry['old'];
  to: JournalEntry['new'];
}

/** A path that belongs to somebody else by now. */
export interface Objection {
  path: string;
  detail: string;
  /** Where a version is that could not stay under its name. */
  kept?: string | undefined;
}

/** Forward, or back. */
export interface Way {
  aside: Aside;
  /** What is taken from its name on this way. */
  role: 'old' | 'new';
  /** Paths whose old file was taken from its name when a process died before the new one was there. */
  halfWay: Set<string>;
  /** Permission bits of folders that are closed to others, by path. */
  folders: Readonly<Record<string, number>>;
}

/** Whether a step is done, may be done now, or has become somebody else's business. */
export async function judge(way: Way, step: Step): Promise<'done' | 'due' | Objection> {
  const found = await inspect(way.aside.root, step.path);
  if (isState(found, step.to)) return 'done';
  // The file is gone and a folder of this very publish has taken its place.
  if (found.kind === 'directory' && step.to === null) return 'done';
  if (isState(found, step.from)) return 'due';
  // The folder of deleted files; it goes if nothing else is in it.
  if (found.kind === 'directory' && step.from === null) return 'due';
  if (found.kind === 'absent' && way.halfWay.has(step.path)) return 'due';
  return { path: step.path, detail: 'The file changed while the publish was under way.' };
}

export function isState(found: Found, state: JournalEntry['old']): boolean {
  if (state === null) return found.kind === 'absent' || found.kind === 'blocked';
  return found.kind === 'leaf' && found.mode === state.mode && found.oid === state.oid;
}

/** Names of the folders on the way, and the last name. */
export function splitPath(path: string): { names: string[]; name: string } {
  const names = path.split('/');
  return { name: names.pop() ?? '', names };
}
