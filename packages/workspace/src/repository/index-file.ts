import { createHash } from 'node:crypto';
import { type Folder, type Leaf, leavesOf } from '../tree/index.ts';

/** Bytes of an entry before its path: ten status fields, the object id, the flags. */
const fixedBytes = 62;
const signature = Buffer.from('DIRC');

/** git's index (version 2) for a tree. Its status fields are zero, so the first `git status` compares contents and fills them in. */
export const buildIndex = (root: Folder): Buffer => indexOf(leavesOf(root));

export function indexOf(files: Iterable<{ path: string; leaf: Leaf }>): Buffer {
  const entries = Array.from(files, ({ path, leaf }) => entryOf(path, leaf));
  entries.sort((a, b) => Buffer.compare(a.subarray(fixedBytes), b.subarray(fixedBytes)));
  const head = Buffer.alloc(12);
  signature.copy(head);
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  return withChecksum(Buffer.concat([head, ...entries]));
}

function entryOf(path: string, { mode, oid }: Leaf): Buffer {
  const entry = Buffer.alloc(paddedLength(fixedBytes + path.length));
  entry.writeUInt32BE(mode, 24);
  entry.write(oid, 40, 'hex');
  entry.writeUInt16BE(Math.min(path.length, 0xfff), 60);
  entry.write(path, fixedBytes, 'latin1');
  return entry;
}

/** At least one NUL follows the path. */
const paddedLength = (length: number): number => (length + 8) & ~7;

/**
 * Sets every status field of an index to zero; undefined when the bytes are no index of version 2 or 3. The fields only tell git which files
 * to compare. A plain `git status` refreshes them, and must not change the snapshot.
 */
export function clearStatFields(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 32 || !bytes.subarray(0, 4).equals(signature)) return undefined;
  const version = bytes.readUInt32BE(4);
  const end = bytes.length - 20;
  if ((version !== 2 && version !== 3) || !checksumOf(bytes.subarray(0, end)).equals(bytes.subarray(end))) {
    return undefined;
  }
  const copy = Buffer.from(bytes.subarray(0, end));
  let position = 12;
  for (let count = bytes.readUInt32BE(8); count > 0; count--) {
    if (position + fixedBytes >= end) return undefined;
    const isExtended = (copy.readUInt16BE(position + 60) & 0x4000) !== 0;
    const pathAt = position + fixedBytes + (isExtended ? 2 : 0);
    const pathEnd = copy.indexOf(0, pathAt);
    if (pathEnd === -1) return undefined;
    copy.fill(0, position, position + 24);
    copy.fill(0, position + 28, position + 40);
    position += paddedLength(pathEnd - position);
  }
  return position > end ? undefined : withChecksum(copy);
}

const checksumOf = (content: Buffer): Buffer => createHash('sha1').update(content).digest();

const withChecksum = (content: Buffer): Buffer => Buffer.concat([content, checksumOf(content)]);
