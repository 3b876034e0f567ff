import { statSync, utimesSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, unlessMissing } from '../../errors.ts';
import { folderOfKind, type KeyedDeps, type Kind, markOf } from './kind.ts';

/** Notes the use of an entry. @returns false when another process has just removed the entry */
export function noteUse({ now }: Pick<KeyedDeps, 'now'>, kind: Kind, entry: string): boolean {
  try {
    utimesSync(markOf(kind, entry), now() / 1000, now() / 1000);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** Milliseconds since 1970; 0 for an entry without the file. */
export const usedAt = (kind: Kind, entry: string): number =>
  statSync(markOf(kind, entry), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Paths of the entries of a kind in a data directory. */
export async function entriesOf(dataDir: string, kind: Kind): Promise<string[]> {
  return (await Promise.all((await groupsOf(dataDir, kind)).map(pathsIn))).flat();
}

/** Paths of the folders directly above entries. */
export async function groupsOf(dataDir: string, kind: Kind): Promise<string[]> {
  let folders = [folderOfKind(dataDir, kind)];
  for (let level = 0; level < kind.groups; level++) folders = (await Promise.all(folders.map(pathsIn))).flat();
  return folders;
}

/** The entries of a group, the most recently used first. */
export const newestIn = async (kind: Kind, group: string): Promise<string[]> =>
  (await pathsIn(group)).toSorted((a, b) => usedAt(kind, b) - usedAt(kind, a));

/** Bytes of the files of an entry without folders. */
export async function bytesOf(entry: string): Promise<number> {
  const sizes = (await pathsIn(entry)).map((path) => stat(path).then(({ size }) => size, unlessMissing(0)));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

export async function pathsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(unlessMissing<string[]>([], ['ENOENT', 'ENOTDIR']));
  return names.map((name) => join(folder, name));
}
