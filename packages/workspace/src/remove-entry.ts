import type { BigIntStats } from 'node:fs';
import { rmdirSync, unlinkSync } from 'node:fs';
import type { Directory } from './open-directory.ts';
import { namesIn, openForOwner, statIn } from './open-directory.ts';

export interface EntryAt {
  directory: Directory;
  name: string;
  /** Byte path from the top of the tree. */
  path: string;
}

/** Whether an entry stays, with the folders that lead to it. */
export type Keep = (at: EntryAt, status: BigIntStats) => boolean;

/** Removes an entry and everything below it, following no link. Returns whether it is gone. */
export function removeEntry(at: EntryAt, keep: Keep = keepNothing): boolean {
  const status = statIn(at.directory, at.name);
  if (status === undefined) return true;
  if (keep(at, status)) return false;
  if (!status.isDirectory()) {
    unlinkSync(at.directory.at(at.name));
    return true;
  }
  if (!removeChildren(at, keep)) return false;
  rmdirSync(at.directory.at(at.name));
  return true;
}

function removeChildren(at: EntryAt, keep: Keep): boolean {
  using directory = openForOwner(at.directory, at.name);
  let gone = true;
  for (const name of namesIn(directory)) {
    gone = removeEntry({ directory, name, path: `${at.path}/${name}` }, keep) && gone;
  }
  return gone;
}

const keepNothing: Keep = () => false;
