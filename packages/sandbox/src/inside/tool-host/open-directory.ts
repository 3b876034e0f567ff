import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { Refusal } from './protocol.ts';

/** A directory, held open, so no later entry of the same name is used in its place. */
export interface OpenDirectory extends Disposable {
  /** A path of the directory. */
  readonly path: string;
  /** A path of an entry. */
  at(name: string): string;
  at(name: Buffer): Buffer;
}

/** A place for an entry of a directory, empty or not. */
export interface Place extends Disposable {
  readonly path: string;
  /** A path of another entry of the same directory. */
  beside(name: string): string;
}

/** O_PATH of Linux. Node has no constant for O_PATH. Opening with O_PATH needs no permission to read the directory. */
const pathOnly = 0o10000000;
const hasHandles = existsSync('/proc/self/fd');
const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | (hasHandles ? pathOnly : constants.O_RDONLY);

/** Opens a directory name by name. A link in the way is ENOTDIR. @param path absolute and resolved, at or below the root */
export function openDirectory(root: string, path: string): OpenDirectory {
  let directory = openEntry(root);
  for (const name of relative(root, path).split('/').filter(Boolean)) {
    using above = directory;
    directory = openEntry(above.at(name), path);
  }
  return directory;
}

/** @param path of a directory. ENOTDIR for a link. @param name its path without handles @default path */
export function openEntry(path: string | Buffer, name: string | Buffer = path): OpenDirectory {
  const descriptor = openSync(path, flags);
  const here = hasHandles ? `/proc/self/fd/${descriptor}` : String(name);
  function at(entry: string): string;
  function at(entry: Buffer): Buffer;
  function at(entry: string | Buffer): string | Buffer {
    return typeof entry === 'string' ? `${here}/${entry}` : Buffer.concat([Buffer.from(`${here}/`), entry]);
  }
  return { path: here, at, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** Holds the directory of a path open. @param path absolute and resolved, below the root */
export function openPlace(root: string, path: string): Place {
  if (path === root) throw new Refusal('EINVAL', 'it is the root of the workspace');
  const parent = openDirectory(root, dirname(path));
  return {
    path: parent.at(basename(path)),
    beside: (name) => parent.at(name),
    [Symbol.dispose]: () => parent[Symbol.dispose](),
  };
}
