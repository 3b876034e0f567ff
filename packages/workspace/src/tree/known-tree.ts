import type { RunFolder } from '../run-folder/run-folder.ts';
import type { Folder } from '../store/objects/index.ts';
import type { Permissions } from './permissions.ts';
import { openStatCache, type StatCache } from './stat-cache.ts';
import type { KnownTree, MtimeOf } from './write-leaves.ts';

/** The known content of a tree, for a checkout of a target with these permissions. */
export function knownTree(
  found: { root: Folder; permissions: Permissions; unsure: Iterable<string> },
  target: Permissions,
): KnownTree | undefined {
  const { usual, others } = found.permissions;
  if (usual.file !== target.usual.file || usual.executable !== target.usual.executable) return undefined;
  if (usual.folder !== target.usual.folder) return undefined;
  const unsure = new Set<string>();
  const add = (path: string) => {
    unsure.add(path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) unsure.add(path.slice(0, end));
  };
  for (const path of found.unsure) add(path);
  for (const path of new Set([...others.keys(), ...target.others.keys()])) {
    if (others.get(path) !== target.others.get(path)) add(path);
  }
  return { root: found.root, isUnsure: (path) => unsure.has(path) };
}

/** The times of the content of another tree's files, read at the first question: 100,000 files take 200 ms. */
export function formerTimes(former: RunFolder | undefined): MtimeOf {
  let stats: StatCache | undefined;
  return (path, oid) => {
    if (former === undefined) return undefined;
    stats ??= openStatCache(former);
    return stats.mtimeOf(path, oid);
  };
}
