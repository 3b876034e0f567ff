import { WorkspaceError } from '../errors.ts';
import type { ObjectReader } from './git.ts';
import { mostRowBytes, mostRows, tooLong, tooMany } from './read-rows.ts';
import { readObjects } from './stream-blobs.ts';

interface Listed {
  gitDir: string;
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

const rowsAtOnce = 2000;

type Trees = ReadonlyMap<string, readonly TreeEntry[]>;

interface TreeEntry {
  /** Six digits. */
  mode: string;
  oid: string;
  name: string;
}

/** Reads all different folders, a level at a time. */
async function readTrees(objects: ObjectReader, input: Listed & { most: number }): Promise<Trees> {
  const { gitDir, treeish, most } = input;
  const trees = new Map<string, readonly TreeEntry[]>();
  let count = 0;
  for (let names = [treeish]; names.length > 0; ) {
    const below = new Set<string>();
    await readObjects(objects, { gitDir, names, type: 'tree' }, (index, content) => {
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

const folderMode = '040000';
const idBytes = 20;

function parseTree(content: Buffer): TreeEntry[] {
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
  return kind === 0o040000 ? folderMode : '160000';
}

function* rowsOf(trees: Trees, of: string, above: string): Generator<string> {
  for (const { mode, oid, name } of trees.get(of) ?? []) {
    const path = `${above}${name}`;
    if (path.length > mostRowBytes) throw tooLong(Buffer.from(path, 'latin1'));
    yield `${mode} ${typeOf(mode)} ${oid}\t${path}`;
    if (mode === folderMode) yield* rowsOf(trees, oid, `${path}/`);
  }
}

const typeOf = (mode: string): string => (mode === folderMode ? 'tree' : mode === '160000' ? 'commit' : 'blob');
