import { isUnstorable, type LeftOut } from '@holdpoint/contract';
import type { Deps, RunFolder } from '../deps.ts';
import { type BytePath, toText } from '../files/index.ts';
import { blobSizes } from '../host-git/stream-blobs.ts';
import { modifiedAt } from '../read/read-file.ts';
import type { Skipped } from '../run-folder/index.ts';
import { type Change, type Folder, find, isFolder } from '../store/objects/index.ts';

/** Entries of a list; further entries are summed up per reason. */
const mostEntries = 200;

/**
 * Groups the left out paths for a person: `node_modules/` in place of its 58,000 files. A folder stands for its files when the run created
 * the folder and all changes inside are left out for the same reason.
 */
export async function summarise(
  deps: Pick<Deps, 'git'>,
  input: {
    folder: RunFolder;
    changes: readonly Change[];
    reasons: ReadonlyMap<BytePath, LeftOut['reason']>;
    skipped: ReadonlyMap<BytePath, Skipped>;
    /** The tree at the start of the run. */
    base: Folder;
    /** Ids of blobs that git cannot read: their size is not known. */
    damaged?: ReadonlySet<string>;
  },
): Promise<LeftOut[]> {
  const { changes, reasons, skipped, damaged = new Set() } = input;
  const left = changes.filter(({ path }) => reasons.has(path));
  const oids = left.flatMap(({ new: leaf }) => (leaf === null || damaged.has(leaf.oid) ? [] : [leaf.oid]));
  const sizes = await blobSizes(deps, { gitDir: input.folder.shadow, oids });
  const top = topOf(input);
  const groups = new Map<string, LeftOut>();
  const add = (at: string, reason: LeftOut['reason'], bytes: number, mtime?: string) => {
    const modified_at = mtime === undefined ? undefined : modifiedAt(mtime);
    const group = groups.get(at) ?? { path: toText(at), reason, files: 0, bytes: 0, modified_at };
    groups.set(at, { ...group, files: group.files + 1, bytes: group.bytes + bytes });
  };
  for (const { path, new: leaf } of left) {
    add(top(path), reasons.get(path) ?? 'ignored', sizes.get(leaf?.oid ?? '') ?? 0);
  }
  for (const [path, { reason, bytes, mtime }] of skipped) {
    const other = reasons.get(path);
    if (other === undefined) add(path, reason, bytes, mtime);
    else add(top(path), other, bytes);
  }
  const list = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return limitEntries(list);
}

/** The topmost folder in place of a path, with a trailing slash; the path when no folder can stand for the path. */
function topOf(input: {
  changes: readonly Change[];
  reasons: ReadonlyMap<BytePath, LeftOut['reason']>;
  base: Folder;
}): (path: BytePath) => string {
  const folderReasons = new Map<BytePath, LeftOut['reason'] | 'mixed'>();
  for (const { path } of input.changes) {
    const reason = input.reasons.get(path) ?? 'mixed';
    for (const above of foldersAbove(path)) {
      const known = folderReasons.get(above);
      if (known === undefined) folderReasons.set(above, reason);
      else if (known !== reason) folderReasons.set(above, 'mixed');
    }
  }
  const standsFor = new Map<BytePath, boolean>();
  const canStand = (above: BytePath) => {
    const known =
      standsFor.get(above) ?? (folderReasons.get(above) !== 'mixed' && !isFolder(find(input.base, above.split('/'))));
    standsFor.set(above, known);
    return known;
  };
  return (path) => {
    const found = foldersAbove(path).find(canStand);
    return found === undefined ? path : `${found}/`;
  };
}

/** Topmost first. */
function foldersAbove(path: BytePath): BytePath[] {
  const folders: BytePath[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) folders.push(path.slice(0, end));
  return folders;
}

/** Files impossible for every snapshot come first. The overflow becomes an entry per reason. */
export function limitEntries(list: LeftOut[]): LeftOut[] {
  if (list.length <= mostEntries) return list;
  const byNeed = [...list].sort((a, b) => Number(isUnstorable(b)) - Number(isUnstorable(a)));
  const rest = new Map<LeftOut['reason'], LeftOut>();
  for (const { reason, files, bytes } of byNeed.slice(mostEntries)) {
    const sum = rest.get(reason) ?? { path: null, reason, files: 0, bytes: 0 };
    rest.set(reason, { ...sum, files: sum.files + files, bytes: sum.bytes + bytes });
  }
  return [...byNeed.slice(0, mostEntries), ...rest.values()];
}
