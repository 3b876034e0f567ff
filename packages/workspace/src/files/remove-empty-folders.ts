import { rmdirSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { type Directory, namesIn, openChain, statIn } from './open-directory.ts';

/** Removes a folder that holds no file at any depth. Returns whether it is gone. */
export function removeEmptyFolders(parent: Directory, name: string): boolean {
  using directory = openChain(parent, [name]);
  if (directory === undefined) return false;
  for (const child of namesIn(directory)) {
    if (statIn(directory, child)?.isDirectory() !== true || !removeEmptyFolders(directory, child)) return false;
  }
  return removeIfEmpty(parent, name);
}

/** Removes a folder if it exists and is empty. Returns whether it did. */
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
