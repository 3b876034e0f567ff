import { rmdirSync } from 'node:fs';
import { errnoOf } from './errors.ts';
import type { Directory } from './open-directory.ts';
import { namesIn, openChain, statIn } from './open-directory.ts';

/** Removes a folder that holds nothing but folders of the same kind. Returns whether it is gone. */
export function removeHollow(parent: Directory, name: string): boolean {
  using directory = openChain(parent, [name]);
  if (directory === undefined) return false;
  for (const child of namesIn(directory)) {
    if (statIn(directory, child)?.isDirectory() !== true || !removeHollow(directory, child)) return false;
  }
  return removeIfEmpty(parent, name);
}

/** Removes a folder if it is empty. Returns whether it was. */
export function removeIfEmpty(parent: Directory, name: string): boolean {
  try {
    rmdirSync(parent.at(name));
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOENT') return false;
    throw error;
  }
}
