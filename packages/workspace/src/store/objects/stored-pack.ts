import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { readFully } from '../../files/read-fully.ts';
import type { PackedObject } from './pack.ts';

const headBytes = 8 + 256 * 4;
const idBytes = 20;
/** The checksum of the pack, and of the index. */
const trailerBytes = 2 * idBytes;

/**
 * A complete pack. The index holds the CRC of each entry, so a reader notices a damaged entry. Packs of this package have no deltas: their
 * entries can be copied into another pack unchanged.
 */
export interface StoredPack {
  has(oid: string): boolean;
  /** The entry in its packed form; undefined when the pack has none. @throws WorkspaceError EWORKSPACECORRUPT */
  read(oid: string): PackedObject | undefined;
  readonly bytes: number;
  [Symbol.dispose](): void;
}

/**
 * Opens a pack and checks its index, its size and whether both belong together. A power failure may have torn a pack without a waiting writer.
 * @param path without `.pack`
 * @returns undefined when the pack is missing or damaged
 */
export function openStoredPack(path: string): StoredPack | undefined {
  const index = readIfThere(`${path}.idx`);
  const count = index !== undefined && index.length >= headBytes ? index.readUInt32BE(headBytes - 4) : 0;
  const idsAt = headBytes;
  const crcsAt = idsAt + count * idBytes;
  const offsetsAt = crcsAt + count * 4;
  if (index === undefined || count === 0 || index.length < offsetsAt + count * 4 + trailerBytes) return undefined;
  if (!sha1(index.subarray(0, -idBytes)).equals(index.subarray(-idBytes))) return undefined;
  const offsets = readOffsets(index, { at: offsetsAt, count });
  if (offsets === undefined) return undefined;
  const sorted = offsets.toSorted();
  const fd = openIfThere(`${path}.pack`);
  if (fd === undefined) return undefined;
  const end = fstatSync(fd).size - idBytes;
  const trailer = Buffer.alloc(idBytes);
  const isWhole =
    end > (sorted.at(-1) ?? 0) &&
    readSync(fd, trailer, 0, idBytes, end) === idBytes &&
    trailer.equals(index.subarray(-trailerBytes, -idBytes));
  if (!isWhole) {
    closeSync(fd);
    return undefined;
  }
  const find = (oid: string): number => {
    const wanted = Buffer.from(oid, 'hex');
    const first = wanted[0] ?? 0;
    let low = first === 0 ? 0 : index.readUInt32BE(8 + (first - 1) * 4);
    let high = index.readUInt32BE(8 + first * 4);
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = idsAt + middle * idBytes;
      const order = wanted.compare(index, at, at + idBytes);
      if (order === 0) return middle;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return -1;
  };
  return {
    bytes: end + idBytes + index.length,
    has: (oid) => find(oid) !== -1,
    read: (oid) => {
      const position = find(oid);
      if (position === -1) return undefined;
      const at = offsets[position] ?? 0;
      const bytes = readFully(fd, (above(sorted, at) ?? end) - at, at);
      const crc = index.readUInt32BE(crcsAt + position * 4);
      if (crc32(bytes) === crc) return { oid, bytes, crc };
      throw new WorkspaceError('EWORKSPACECORRUPT', `The object ${oid} in ${path}.pack is damaged.`);
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

/** Offsets of 2 GiB and more lie in a table of their own, behind the others. */
function readOffsets(index: Buffer, { at, count }: { at: number; count: number }): Float64Array | undefined {
  const large = at + count * 4;
  let larger = 0;
  const offsets = Float64Array.from({ length: count }, (_, one) => {
    const offset = index.readUInt32BE(at + one * 4);
    if (offset < 2 ** 31) return offset;
    const where = large + (offset - 2 ** 31) * 8;
    larger += 1;
    return where + 8 > index.length ? Number.NaN : Number(index.readBigUInt64BE(where));
  });
  return index.length === large + larger * 8 + trailerBytes ? offsets : undefined;
}

/** The next larger number of a sorted list. */
function above(sorted: Float64Array, value: number): number | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return sorted[low];
}

const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
