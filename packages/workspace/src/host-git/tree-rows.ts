import { WorkspaceError } from '../errors.ts';
import type { ObjectQuery, ObjectReader } from './git.ts';
import { mostRowBytes, mostRows, readInfo, readObjects, tooLong, tooMany } from './stream-blobs.ts';

interface Listed extends Pick<ObjectQuery, 'gitDir' | 'options' | 'signal'> {
  treeish: string;
  /** Throws ETOOMANYFILES for more rows. */
  most?: number | undefined;
}

/**
 * The rows of `git ls-tree -r -t -z --full-tree`, from the objects themselves: an operation with a kept program starts no other program for a
 * tree. Equal folders are read once.
 * @throws WorkspaceError EWORKSPACECORRUPT, ETOOMANYFILES, ESOURCEPATHS
 */
export async function* treeRows(objects: ObjectReader, input: Listed): AsyncGenerator<string[]> {
  const most = input.most ?? mostRows;
  const trees = await readTrees(objects, { ...input, most });
  let count = 0;
  let rows: string[] = [];
  for (const row of rowsOf(trees, input.treeish, '')) {
    count += 1;
    if (count > most) throw tooMany(most);
    rows.push(row);
    if (rows.length < rowsAtOnce) continue;
    yield rows;
    rows = [];
    // The event loop has other work, too.
    await new Promise(setImmediate);
  }
  yield rows;
}

/**
 * The rows of `git ls-tree -r -t -l -z --full-tree` of a small tree: with sizes, and in memory as a whole.
 * @throws WorkspaceError as `treeRows`, and EWORKSPACECORRUPT for a lost file
 */
export async function sizedTreeRows(
  objects: ObjectReader,
  { treeish, most, ...query }: Listed & { most: number },
): Promise<string[]> {
  const rows = (await Array.fromAsync(treeRows(objects, { ...query, treeish, most }))).flat();
  const oidOf = (row: string): string | undefined => blobRow.exec(row)?.[1];
  const names = [...new Set(rows.map(oidOf).filter((oid) => oid !== undefined))];
  const infos = await readInfo(objects, { ...query, names });
  const sizes = new Map(names.map((oid, index) => [oid, sizeIn(infos[index] ?? '')]));
  return rows.map((row) => row.replace('\t', () => ` ${sizes.get(oidOf(row) ?? '') ?? '-'}\t`));
}

const blobRow = /^\d{6} blob ([0-9a-f]{40})\t/;

function sizeIn(info: string): string {
  const size = /^[0-9a-f]{40} \w+ (\d+)$/.exec(info)?.[1];
  if (size !== undefined) return size;
  throw new WorkspaceError('EWORKSPACECORRUPT', `git has lost an object of a tree: ${info}`);
}

const rowsAtOnce = 2000;

type Trees = ReadonlyMap<string, readonly TreeEntry[]>;

export interface TreeEntry {
  /** Six digits. */
  mode: string;
  oid: string;
  name: string;
}

/** Reads all different folders, a level at a time. */
async function readTrees(objects: ObjectReader, input: Listed & { most: number }): Promise<Trees> {
  const { treeish, most, ...query } = input;
  const trees = new Map<string, readonly TreeEntry[]>();
  let count = 0;
  for (let names = [treeish]; names.length > 0; ) {
    const below = new Set<string>();
    await readObjects(objects, { ...query, names, type: 'tree' }, (index, content) => {
      const entries = parseTree(content);
      count += entries.length;
      if (count > most) throw tooMany(most);
      trees.set(names[index] ?? '', entries);
      for (const { mode, oid } of entries) if (mode === folderMode) below.add(oid);
    });
    names = [...below].filter((oid) => !trees.has(oid));
  }
  return trees;
}

export const folderMode = '040000';
export const submoduleMode = '160000';
const idBytes = 20;

/** The entries of a tree object, with the modes that git shows. @throws WorkspaceError EWORKSPACECORRUPT */
export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space + 1);
    const mode = content.toString('latin1', at, space);
    const next = end + 1 + idBytes;
    if (space === -1 || end === -1 || next > content.length || !/^0*[0-7]{1,6}$/.test(mode) || end === space + 1)
      throw new WorkspaceError('EWORKSPACECORRUPT', 'git has a malformed folder in the store of the run.');
    const oid = content.toString('hex', end + 1, next);
    entries.push({ mode: plainMode(Number.parseInt(mode, 8)), oid, name: content.toString('latin1', space + 1, end) });
    at = next;
  }
  return entries;
}

/** git shows four modes, and takes a file with any other permissions for one of the two. */
function plainMode(mode: number): string {
  const kind = mode & 0o170000;
  if (kind === 0o100000) return (mode & 0o100) === 0 ? '100644' : '100755';
  if (kind === 0o120000) return '120000';
  return kind === 0o040000 ? folderMode : submoduleMode;
}

function* rowsOf(trees: Trees, of: string, above: string): Generator<string> {
  for (const { mode, oid, name } of trees.get(of) ?? []) {
    const path = `${above}${name}`;
    if (path.length > mostRowBytes) throw tooLong(Buffer.from(path, 'latin1'));
    yield `${mode} ${typeOf(mode)} ${oid}\t${path}`;
    if (mode === folderMode) yield* rowsOf(trees, oid, `${path}/`);
  }
}

const typeOf = (mode: string): string => (mode === folderMode ? 'tree' : mode === submoduleMode ? 'commit' : 'blob');
