import { type Entry, type Folder, isFolder, modes } from '../store/objects/index.ts';

type Kind = 'file' | 'executable' | 'folder';
type ByKind = Readonly<Record<Kind, number>>;

/**
 * Permission bits of a tree outside of git's two modes. Only bits denied to group or others are kept: 600 stays 600, while a restore turns
 * 664 into 644.
 */
export interface Permissions {
  /** The bits of most files and folders: git's own, unless the source was private. */
  readonly usual: ByKind;
  /** The bits of all other files and folders, by byte path. */
  readonly others: ReadonlyMap<string, number>;
}

export const gitPermissions: Permissions = {
  usual: { file: 0o644, executable: 0o755, folder: 0o755 },
  others: new Map(),
};

/** Undefined for a symbolic link, because links have no permissions. */
export function kindOf(entry: Entry): Kind | undefined {
  if (isFolder(entry)) return 'folder';
  return entry.mode === modes.symlink ? undefined : entry.mode === modes.executable ? 'executable' : 'file';
}

export const permissionsAt = ({ usual, others }: Permissions, path: string, kind: Kind): number =>
  others.get(path) ?? usual[kind];

/** The bits of a status kept in a snapshot. The owner, in this case the run, can always read and write. */
export function keptBits(mode: bigint | number, kind: Kind): number {
  const usual = gitPermissions.usual[kind];
  const bits = Number(mode) & 0o777;
  return (usual & 0o077 & ~bits) === 0 ? usual : bits | (usual & 0o700);
}

export const isPrivate = (bits: number, kind: Kind): boolean => bits !== gitPermissions.usual[kind];

/** Takes the most frequent bits as the usual bits: a fully private tree needs few bytes. */
export function compact(root: Folder, others: ReadonlyMap<string, number>): Permissions {
  if (others.size === 0) return gitPermissions;
  const all: { path: string; kind: Kind; bits: number }[] = [];
  const visit = (folder: Folder, above: string) => {
    for (const [name, entry] of folder.entries) {
      const path = above === '' ? name : `${above}/${name}`;
      const kind = kindOf(entry);
      if (kind !== undefined) all.push({ path, kind, bits: others.get(path) ?? gitPermissions.usual[kind] });
      if (isFolder(entry)) visit(entry, path);
    }
  };
  visit(root, '');
  const mostOf = (kind: Kind): number => {
    const counts = Map.groupBy(
      all.filter((one) => one.kind === kind),
      ({ bits }) => bits,
    );
    const [most] = [...counts].sort(([, a], [, b]) => b.length - a.length);
    return most?.[0] ?? gitPermissions.usual[kind];
  };
  const usual = { file: mostOf('file'), executable: mostOf('executable'), folder: mostOf('folder') };
  const unusual = all.filter(({ kind, bits }) => bits !== usual[kind]);
  return { usual, others: new Map(unusual.map(({ path, bits }) => [path, bits])) };
}

export function isSamePermissions(a: Permissions, b: Permissions): boolean {
  return (
    a === b ||
    (a.others.size === b.others.size &&
      (['file', 'executable', 'folder'] as const).every((kind) => a.usual[kind] === b.usual[kind]) &&
      [...a.others].every(([path, bits]) => b.others.get(path) === bits))
  );
}
