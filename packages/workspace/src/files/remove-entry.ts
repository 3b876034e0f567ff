import { type BigIntStats, rmdirSync, unlinkSync } from 'node:fs';
import { type Directory, namesIn, openForOwner, statIn } from './open-directory.ts';
import type { Yielder } from './yielder.ts';

export interface EntryAt {
  directory: Directory;
  name: string;
  /** Byte path from the top of the tree. */
  path: string;
}

/** Whether an entry stays, together with the folders above it. */
export type Keep = (at: EntryAt, status: BigIntStats) => boolean;

/** Removes an entry and everything below it without following links. Returns whether it is gone. */
export async function removeEntry(deps: { maybeYield: Yielder; keep?: Keep }, at: EntryAt): Promise<boolean> {
  const status = statIn(at.directory, at.name);
  if (status === undefined) return true;
  if (deps.keep?.(at, status) === true) return false;
  if (!status.isDirectory()) {
    unlinkSync(at.directory.at(at.name));
    const pause = deps.maybeYield();
    if (pause !== undefined) await pause;
    return true;
  }
  if (!(await removeChildren(deps, at))) return false;
  rmdirSync(at.directory.at(at.name));
  return true;
}

async function removeChildren(deps: { maybeYield: Yielder; keep?: Keep }, at: EntryAt): Promise<boolean> {
  using directory = openForOwner(at.directory, at.name);
  let gone = true;
  for (const name of namesIn(directory)) {
    gone = (await removeEntry(deps, { directory, name, path: `${at.path}/${name}` })) && gone;
  }
  return gone;
}
