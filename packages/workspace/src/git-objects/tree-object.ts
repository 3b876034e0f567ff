import { type Entry, type Folder, isLeaf } from '../tree/tree.ts';

/** Content of a tree object, or null when the folder holds no file. Sub-folders must be sealed already. */
export function treeContent(folder: Folder): Buffer | null {
  const rows: { key: string; mode: string; name: string; oid: string }[] = [];
  for (const [name, entry] of folder.entries) {
    const oid = idOf(entry);
    if (oid === null) continue;
    // git sorts a folder as if its name ended with a slash.
    rows.push(
      isLeaf(entry)
        ? { key: name, mode: entry.mode.toString(8), name, oid }
        : { key: `${name}/`, mode: '40000', name, oid },
    );
  }
  if (rows.length === 0) return null;
  rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  // One buffer for all rows: a folder may have 200,000 entries.
  const content = Buffer.allocUnsafe(rows.reduce((sum, { mode, name }) => sum + mode.length + name.length + 22, 0));
  let filled = 0;
  for (const { mode, name, oid } of rows) {
    filled += content.write(`${mode} ${name}\0`, filled, 'latin1');
    filled += content.write(oid, filled, 'hex');
  }
  return content;
}

function idOf(entry: Entry): string | null {
  if (isLeaf(entry)) return entry.oid;
  if (entry.oid === undefined) throw new TypeError('tree written before its sub-trees');
  return entry.oid;
}
