import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errnoOf, unlessMissing } from '../../errors.ts';
import type { Logger } from '../../port/logger.ts';

/**
 * A kind of entries shared by runs, each in a folder `<data directory>/<folder>/<group>/<name>`. Entries of all kinds have one life: a
 * process makes an entry aside and renames the entry to a free place, nothing changes the entry afterwards, a use checks the entry first
 * and notes its time, and maintenance removes the least recently used entries.
 */
export interface Kind {
  /** Begins the names of its folders in `making/` and in the trash, and the names of its points. */
  readonly name: string;
  readonly folder: string;
  /** Folders between the folder of the kind and an entry, for the tenant and the like. */
  readonly groups: number;
  /** The file with the time of an entry's last use. @default the folder of the entry */
  readonly mark?: string;
  /** Whether a new entry waits for the disk. Other kinds find entries torn by a power cut when they check them. */
  readonly isSynced: boolean;
}

export const folderOfKind = (dataDir: string, { folder }: Kind): string => join(dataDir, folder);

const markOf = (kind: Kind, entry: string): string => (kind.mark === undefined ? entry : join(entry, kind.mark));

/** The dependencies of a store. */
export interface KeyedDeps {
  readonly dataDir: string;
  readonly now: () => number;
  readonly onPoint: (point: string) => void;
}

/** Holds the folders of unknown runs and damaged folders, for a person to look at: `<name>~<milliseconds since 1970>`. */
export const trashFolder = (dataDir: string): string => join(dataDir, 'trash');

/** In a damaged folder of the trash: the kind of the folder, and its differences from the original. */
export const damageFile = (path: string): string => join(path, 'damage.json');

/**
 * Moves a damaged entry to the trash. The runs' mounts and hard links of the entry stay. Does nothing when another process was faster.
 * @param why a sentence with paths
 */
export function setAside(
  deps: { dataDir: string; now: () => number; logger: Logger },
  kind: Kind,
  { entry, why }: { entry: string; why: string },
): void {
  const trash = trashFolder(deps.dataDir);
  const to = join(trash, `${kind.name}-${randomBytes(6).toString('hex')}~${deps.now()}`);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  try {
    renameSync(entry, to);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return;
  }
  const name = relative(folderOfKind(deps.dataDir, kind), entry);
  const damage = { kind: kind.name, name, why, at: new Date(deps.now()).toISOString() };
  writeFileSync(damageFile(to), JSON.stringify(damage), { mode: 0o600 });
  deps.logger.warn(
    { kind: kind.name, entry: name, why, trash: to },
    `a damaged entry of ${kind.folder}/ was set aside`,
  );
}

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
