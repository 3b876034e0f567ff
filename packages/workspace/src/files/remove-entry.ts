import { type BigIntStats, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../errors.ts';
import { type Directory, namesIn, openChain, openForOwner, openTop, statIn } from './open-directory.ts';
import { createYielder, type Yielder } from './yielder.ts';

export interface EntryAt {
  directory: Directory;
  name: string;
  /** Byte path from the top of the tree. */
  path: string;
}

/** Whether to keep an entry, together with the folders above. */
export type Keep = (at: EntryAt, status: BigIntStats) => boolean;

/** Removes an entry and everything below without following links. Returns whether the entry is gone. */
export async function removeEntry(deps: { maybeYield: Yielder; keep?: Keep }, at: EntryAt): Promise<boolean> {
  const status = statIn(at.directory, at.name);
  if (status === undefined) return true;
  if (deps.keep?.(at, status) === true) return false;
  if (!status.isDirectory()) {
    unlessGone(() => unlinkSync(at.directory.at(at.name)));
    const pause = deps.maybeYield();
    if (pause !== undefined) await pause;
    return true;
  }
  if (!(await removeChildren(deps, at))) return false;
  unlessGone(() => rmdirSync(at.directory.at(at.name)));
  return true;
}

/** Two processes may remove the same folder. */
function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

async function removeChildren(deps: { maybeYield: Yielder; keep?: Keep }, at: EntryAt): Promise<boolean> {
  using directory = unlessGone(() => openForOwner(at.directory, at.name));
  if (directory === undefined) return true;
  let gone = true;
  for (const name of namesIn(directory)) {
    gone = (await removeEntry(deps, { directory, name, path: `${at.path}/${name}` })) && gone;
  }
  return gone;
}

/**
 * Removes a folder of the data directory with all content left by an agent. No-op for a missing folder. Others may remove the same folder
 * concurrently.
 */
export async function removeFolder(path: string, maybeYield: Yielder = createYielder()): Promise<void> {
  try {
    using parent = openTop(dirname(path));
    await removeEntry({ maybeYield }, { directory: parent, name: basename(path), path: basename(path) });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** Removes a folder without a file at any depth. Returns whether the folder is gone. */
export function removeEmptyFolders(parent: Directory, name: string): boolean {
  using directory = openChain(parent, [name]);
  if (directory === undefined) return false;
  for (const child of namesIn(directory)) {
    if (statIn(directory, child)?.isDirectory() !== true || !removeEmptyFolders(directory, child)) return false;
  }
  return removeIfEmpty(parent, name);
}

/** Removes an existing, empty folder. Returns whether the folder was removed. */
export function removeIfEmpty(parent: Directory, name: string): boolean {
  try {
    rmdirSync(parent.at(name));
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errno ?? '')) return false;
    throw error;
  }
}
