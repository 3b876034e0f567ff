import { createHash } from 'node:crypto';
import { createYielder } from '../files/index.ts';
import { type Folder, type Leaf, leavesOf } from '../tree/index.ts';

/** Bytes of an entry before its path: ten status fields, the object id, the flags. */
const fixedBytes = 62;
/** Signature, version, number of entries. */
const headBytes = 12;
const signature = Buffer.from('DIRC');

/** git's index (version 2) for a tree. Its status fields are zero, so the first `git status` compares contents and fills them in. */
export const buildIndex = (root: Folder): Promise<Buffer> => indexOf(leavesOf(root));

/** @param files in any order */
export async function indexOf(files: Iterable<{ path: string; leaf: Leaf }>): Promise<Buffer> {
  const maybeYield = createYielder();
  const sorted = Array.from(files).sort((a, b) => (a.path < b.path ? -1 : 1));
  const size = sorted.reduce((sum, { path }) => sum + paddedLength(fixedBytes + path.length), headBytes);
  const index = Buffer.alloc(size);
  signature.copy(index);
  index.writeUInt32BE(2, 4);
  index.writeUInt32BE(sorted.length, 8);
  let at = headBytes;
  for (const { path, leaf } of sorted) {
    index.writeUInt32BE(leaf.mode, at + 24);
    index.write(leaf.oid, at + 40, 'hex');
    index.writeUInt16BE(Math.min(path.length, 0xfff), at + 60);
    index.write(path, at + fixedBytes, 'latin1');
    at += paddedLength(fixedBytes + path.length);
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  return withChecksum(index);
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
