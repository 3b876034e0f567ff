import { createHash } from 'node:crypto';
import { createYielder } from '../files/index.ts';
import { countLeaves, type Folder, type Leaf, sortedLeaves } from '../store/objects/index.ts';

/** Bytes of an entry before its path: ten status fields, the object id, the flags. */
const fixedBytes = 62;
/** Signature, version, number of entries. */
const headBytes = 12;
const signature = Buffer.from('DIRC');

/**
 * git's index (version 2) for a tree, in pieces. Its status fields are zero, so the first `git status` compares contents and fills them in.
 * The index of 100,000 files has 12 MB: memory never holds the whole index, and other work of the process continues between the pieces.
 */
export const buildIndex = (root: Folder): AsyncGenerator<Buffer> => piecesOf(sortedLeaves(root), countLeaves(root));

/** The same for a few files. @param files in any order */
export async function indexOf(files: readonly File[]): Promise<Buffer> {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return Buffer.concat(await Array.fromAsync(piecesOf(sorted, sorted.length)));
}

interface File {
  readonly path: string;
  readonly leaf: Leaf;
}

const pieceBytes = 256 * 1024;

/** @param files in the order of their paths */
async function* piecesOf(files: Iterable<File>, count: number): AsyncGenerator<Buffer> {
  const maybeYield = createYielder();
  const hash = createHash('sha1');
  let piece = Buffer.alloc(pieceBytes);
  signature.copy(piece);
  piece.writeUInt32BE(2, 4);
  piece.writeUInt32BE(count, 8);
  let at = headBytes;
  for (const { path, leaf } of files) {
    const length = paddedLength(fixedBytes + path.length);
    if (at + length > piece.length) {
      const full = piece.subarray(0, at);
      hash.update(full);
      yield full;
      piece = Buffer.alloc(Math.max(pieceBytes, length));
      at = 0;
    }
    piece.writeUInt32BE(leaf.mode, at + 24);
    piece.write(leaf.oid, at + 40, 'hex');
    piece.writeUInt16BE(Math.min(path.length, 0xfff), at + 60);
    piece.write(path, at + fixedBytes, 'latin1');
    at += length;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  const last = piece.subarray(0, at);
  yield Buffer.concat([last, hash.update(last).digest()]);
}

/** At least a NUL follows the path. */
const paddedLength = (length: number): number => (length + 8) & ~7;

/**
 * Sets every status field of an index to zero; undefined when the bytes are no index of version 2 or 3. The fields only help git to choose the files
 * to compare. A plain `git status` refreshes them, and must not change the snapshot.
 * @returns the same `bytes` when all of them are zero
 */
export function clearStatFields(bytes: Buffer): Buffer | undefined {
  const work = clearing(bytes);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The same for a large index: other work of the process continues between its pieces. */
export async function clearStatFieldsOfLarge(bytes: Buffer): Promise<Buffer | undefined> {
  const maybeYield = createYielder();
  const work = clearing(bytes);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
}

/** Yields now and then. */
function* clearing(bytes: Buffer): Generator<undefined, Buffer | undefined> {
  if (bytes.length < 32 || !bytes.subarray(0, 4).equals(signature)) return undefined;
  const version = bytes.readUInt32BE(4);
  const end = bytes.length - 20;
  if (version !== 2 && version !== 3) return undefined;
  if (!(yield* hashing(bytes.subarray(0, end))).equals(bytes.subarray(end))) return undefined;
  let copy: Buffer | undefined;
  let position = 12;
  for (let count = bytes.readUInt32BE(8); count > 0; count--) {
    if (position + fixedBytes >= end) return undefined;
    if (!isClear(bytes, position)) {
      copy ??= Buffer.from(bytes);
      copy.fill(0, position, position + 24);
      copy.fill(0, position + 28, position + 40);
    }
    const isExtended = (bytes.readUInt16BE(position + 60) & 0x4000) !== 0;
    const pathAt = position + fixedBytes + (isExtended ? 2 : 0);
    const pathEnd = bytes.indexOf(0, pathAt);
    if (pathEnd === -1) return undefined;
    position += paddedLength(pathEnd - position);
    if (count % 1000 === 0) yield;
  }
  if (position > end) return undefined;
  if (copy === undefined) return bytes;
  (yield* hashing(copy.subarray(0, end))).copy(copy, end);
  return copy;
}

/** The 24 bytes before the mode, and the 12 behind it. */
const isClear = (bytes: Buffer, at: number): boolean =>
  zeros.compare(bytes, at, at + 24) === 0 && zeros.compare(bytes, at + 28, at + 40, 0, 12) === 0;
const zeros = Buffer.alloc(24);

function* hashing(content: Buffer): Generator<undefined, Buffer> {
  const hash = createHash('sha1');
  for (let at = 0; at < content.length; at += pieceBytes) {
    hash.update(content.subarray(at, at + pieceBytes));
    yield;
  }
  return hash.digest();
}
