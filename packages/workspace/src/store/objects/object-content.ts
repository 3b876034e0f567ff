import { createYielder } from '../../files/index.ts';
import { emptyTreeId, objectId } from './object-id.ts';
import { type Entry, type Folder, isFolder, isLeaf } from './tree.ts';

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
  // A single buffer for all rows: a folder may have 200,000 entries.
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

interface Signature {
  name: string;
  email: string;
}

/** The author and committer of Holdpoint's commits. */
export const signature: Signature = { name: 'Holdpoint', email: 'holdpoint@localhost' };

/** Removes characters with the power to end a name in a commit header or to begin another line. */
const plain = (text: string): string => text.replaceAll(/[<>\p{Cc}]/gu, '').trim();

/**
 * Content of a commit object. The date is an input and not read from the clock: the same inputs give the same id, so a repeated call
 * after a crash finds its own work.
 * @param input.seconds date, seconds since 1970
 */
export function commitContent(input: {
  tree: string;
  parent: string | null;
  /** A commit to store as long as the new commit. */
  secondParent?: string;
  seconds: number;
  message: string;
  author?: Signature;
}): Buffer {
  const by = ({ name, email }: Signature) => `${plain(name)} <${plain(email)}> ${input.seconds} +0000`;
  const lines = [`tree ${input.tree}`];
  if (input.parent !== null) lines.push(`parent ${input.parent}`);
  if (input.secondParent !== undefined) lines.push(`parent ${input.secondParent}`);
  lines.push(
    `author ${by(input.author ?? signature)}`,
    `committer ${by(signature)}`,
    '',
    input.message.replaceAll('\0', '').trimEnd(),
    '',
  );
  return Buffer.from(lines.join('\n'));
}

/** Tree, first parent and message of a commit's content. */
export function readCommit(content: Buffer): { tree: string; parent: string | null; message: string } {
  const text = content.toString('utf8');
  const end = text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const field = (name: string) => new RegExp(`^${name} ([0-9a-f]{40})$`, 'm').exec(head)?.[1];
  return {
    tree: field('tree') ?? '',
    parent: field('parent') ?? null,
    message: end === -1 ? '' : text.slice(end + 2),
  };
}

/** Gives the folder and everything below an object id, without storing anything. */
export async function hashTree(root: Folder): Promise<string> {
  const maybeYield = createYielder();
  const seal = async (folder: Folder): Promise<void> => {
    for (const entry of folder.entries.values()) if (isFolder(entry) && entry.oid === undefined) await seal(entry);
    const content = treeContent(folder);
    folder.oid = content === null ? null : objectId('tree', content);
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  };
  if (root.oid === undefined) await seal(root);
  return root.oid ?? emptyTreeId;
}
