import { join } from 'node:path';

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

export const markOf = (kind: Kind, entry: string): string => (kind.mark === undefined ? entry : join(entry, kind.mark));

/** The dependencies of a store. */
export interface KeyedDeps {
  readonly dataDir: string;
  readonly now: () => number;
  readonly onPoint: (point: string) => void;
}
