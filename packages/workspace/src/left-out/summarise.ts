import { isUnstorable, type LeftOut } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import { type BytePath, toText } from '../files/path-name.ts';
import { blobSizes } from '../host-git/blob-sizes.ts';
import { modifiedAt } from '../read/list-unknown.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Skipped } from '../tree/manifest.ts';
import { type Change, type Folder, find, isFolder } from '../tree/tree.ts';

/** Entries of a list; what is beyond is added up. */
const mostEntries = 200;

/**
 * What is left out, as a person wants to see it: `node_modules/` in place of its 58,000 files. A folder stands for its files when the
 * run did not begin with it, and everything that changed in it is left out for the same reason.
 */
export async function summarise(
  deps: Pick<Deps, 'git'>,
  input: {
    folder: RunFolder;
    changes: readonly Change[];
    judged: ReadonlyMap<BytePath, LeftOut['reason']>;
    skipped: ReadonlyMap<BytePath, Skipped>;
    /** What the run began with. */
    base: Folder;
  },
): Promise<LeftOut[]> {
  const { changes, judged, skipped } = input;
  const left = changes.filter(({ path }) => judged.has(path));
  const oids = left.flatMap(({ new: leaf }) => (leaf === null ? [] : [leaf.oid]));
  const sizes = await blobSizes(deps, { gitDir: input.folder.shadow, oids });
  const top = topOf(input);
  const groups = new Map<string, LeftOut>();
  const add = (at: string, reason: LeftOut['reason'], bytes: number, mtime?: string) => {
    const modified_at = mtime === undefined ? undefined : modifiedAt(mtime);
    const more = modified_at === undefined ? {} : { modified_at };
    const group = groups.get(at) ?? { path: toText(at), reason, files: 0, bytes: 0, ...more };
    groups.set(at, { ...group, files: group.files + 1, bytes: group.bytes + bytes });
  };
  for (const { path, new: leaf } of left) {
    add(top(path), judged.get(path) ?? 'ignored', sizes.get(leaf?.oid ?? '') ?? 0);
  }
  for (const [path, { reason, bytes, mtime }] of skipped) {
    const other = judged.get(path);
    if (other === undefined) add(path, reason, bytes, mtime);
    else add(top(path), other, bytes);
  }
  const list = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return fold(list);
}

/** The topmost folder that can stand for a path, with a slash at its end; the path itself when there is none. */
function topOf(input: {
  changes: readonly Change[];
  judged: ReadonlyMap<BytePath, LeftOut['reason']>;
  base: Folder;
}): (path: BytePath) => string {
  const reasons = new Map<BytePath, LeftOut['reason'] | 'mixed'>();
  for (const { path } of input.changes) {
    const reason = input.judged.get(path) ?? 'mixed';
    for (const above of foldersAbove(path)) {
      const known = reasons.get(above);
      if (known === undefined) reasons.set(above, reason);
      else if (known !== reason) reasons.set(above, 'mixed');
    }
  }
  const standsFor = new Map<BytePath, boolean>();
  const canStand = (above: BytePath) => {
    const known =
      standsFor.get(above) ?? (reasons.get(above) !== 'mixed' && !isFolder(find(input.base, above.split('/'))));
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

/** What no publish can hold is named first. The rest of each reason becomes one entry. */
export function fold(list: LeftOut[]): LeftOut[] {
  if (list.length <= mostEntries) return list;
  const byNeed = [...list].sort((a, b) => Number(isUnstorable(b)) - Number(isUnstorable(a)));
  const rest = new Map<LeftOut['reason'], LeftOut>();
  for (const { reason, files, bytes } of byNeed.slice(mostEntries)) {
    const sum = rest.get(reason) ?? { path: null, reason, files: 0, bytes: 0 };
    rest.set(reason, { ...sum, files: sum.files + files, bytes: sum.bytes + bytes });
  }
  return [...byNeed.slice(0, mostEntries), ...rest.values()];
}
