import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { syncOpen, writeSynced } from '../files/write-durably.ts';
import {
  type PackedObject,
  type PackPlace,
  packHeader,
  packIndex,
  placeForPack,
  putInPlace,
  removeTemporary,
} from './pack.ts';

/** Offsets in the index have 31 bits. */
const fullAt = 1024 * 1024 * 1024;
const pieceBytes = 1024 * 1024;
const blockBytes = 256 * 1024;

interface Open {
  readonly place: PackPlace;
  readonly fd: number;
  readonly objects: { oid: string; crc: number; at: number }[];
  /** Of all that came; the last `waiting` bytes lie in the block and are not written yet. */
  size: number;
  waiting: number;
}

/**
 * A pack that is written as its objects come, so that memory holds none of them. Nothing is known to git before `finish` has returned; then
 * the next object begins another pack. Closing it throws away what was not finished.
 */
export class PackStream {
  readonly #gitDir: string;
  /** Small objects are written together: 10,000 writes take 30 ms. */
  readonly #block = Buffer.allocUnsafeSlow(blockBytes);
  #open: Open | undefined;

  constructor(gitDir: string) {
    this.#gitDir = gitDir;
  }

  get isFull(): boolean {
    return (this.#open?.size ?? 0) >= fullAt;
  }

  /** Synchronous. The bytes may be used again afterwards. */
  append({ oid, bytes, crc }: PackedObject): void {
    const open = this.#begin();
    open.objects.push({ oid, crc, at: open.size });
    this.#put(open, bytes);
  }

  /** An object in pieces. `end` names it, or throws it away; nothing else may be appended before. */
  start(): { write: (bytes: Buffer) => void; end: (object: { oid: string; crc: number } | undefined) => void } {
    const open = this.#begin();
    const at = open.size;
    return {
      write: (bytes) => this.#put(open, bytes),
      end: (object) => {
        this.#writeBlock(open);
        if (object === undefined) open.size = at;
        else open.objects.push({ ...object, at });
      },
    };
  }

  /** On disk when it returns. Answers with the ids of its objects. */
  async finish(): Promise<string[]> {
    const open = this.#open;
    if (open === undefined) return [];
    const { place, fd, objects } = open;
    if (objects.length > 0) {
      this.#writeBlock(open);
      writeAt(fd, packHeader(objects.length), 0);
      const trailer = hashOf(fd, open.size);
      writeAt(fd, trailer, open.size);
      // An object that was thrown away may have been longer.
      ftruncateSync(fd, open.size + trailer.length);
      await syncOpen(fd);
      await writeSynced(place.tmpIndex, packIndex(objects, trailer), 0o444);
      await putInPlace(place);
    }
    this[Symbol.dispose]();
    return objects.map(({ oid }) => oid);
  }

  [Symbol.dispose](): void {
    if (this.#open === undefined) return;
    closeSync(this.#open.fd);
    removeTemporary(this.#open.place);
    this.#open = undefined;
  }

  #begin(): Open {
    if (this.#open !== undefined) return this.#open;
    const place = placeForPack(this.#gitDir);
    const fd = openSync(place.tmpPack, 'wx+', 0o444);
    const head = packHeader(0);
    writeAt(fd, head, 0);
    this.#open = { place, fd, objects: [], size: head.length, waiting: 0 };
    return this.#open;
  }

  #put(open: Open, bytes: Uint8Array): void {
    if (open.waiting + bytes.length > this.#block.length) this.#writeBlock(open);
    if (bytes.length > this.#block.length) {
      writeAt(open.fd, bytes, open.size);
    } else {
      this.#block.set(bytes, open.waiting);
      open.waiting += bytes.length;
    }
    open.size += bytes.length;
  }

  #writeBlock(open: Open): void {
    writeAt(open.fd, this.#block.subarray(0, open.waiting), open.size - open.waiting);
    open.waiting = 0;
  }
}

/** The number of objects stands at the beginning and is known at the end: the pack is read again, out of the page cache. */
function hashOf(fd: number, size: number): Buffer {
  const hash = createHash('sha1');
  const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, size));
  for (let position = 0; position < size; ) {
    const read = readSync(fd, piece, 0, Math.min(piece.length, size - position), position);
    if (read === 0) throw new Error('a pack became shorter while it was written');
    hash.update(piece.subarray(0, read));
    position += read;
  }
  return hash.digest();
}

function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  let offset = 0;
  while (offset < bytes.length) offset += writeSync(fd, bytes, offset, bytes.length - offset, position + offset);
}
