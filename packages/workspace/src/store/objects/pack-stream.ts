import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { createYielder, syncOpen, writeAll, writeSynced } from '../../files/index.ts';
import * as pack from './pack.ts';

/** Offsets in the index have 31 bits. */
const fullBytes = 1024 * 1024 * 1024;
const pieceBytes = 1024 * 1024;
const blockBytes = 256 * 1024;

interface Open {
  readonly paths: pack.PackPaths;
  readonly fd: number;
  readonly objects: { oid: string; crc: number; at: number }[];
  /** Total bytes; the last `waiting` bytes are in the block and not yet written. */
  size: number;
  waiting: number;
}

/**
 * Writes a pack during the arrival of its objects: memory holds none of them. git sees no object before `finish` has returned; afterwards
 * the next object starts another pack. Disposal removes an unfinished pack.
 */
export class PackStream {
  readonly #gitDir: string;
  /** Buffers small objects: 10,000 writes take 30 ms. */
  readonly #block = Buffer.allocUnsafeSlow(blockBytes);
  #open: Open | undefined;

  constructor(gitDir: string) {
    this.#gitDir = gitDir;
  }

  get isFull(): boolean {
    return (this.#open?.size ?? 0) >= fullBytes;
  }

  /** Synchronous: the caller may reuse `bytes` afterwards. */
  append({ oid, bytes, crc }: pack.PackedObject): void {
    const open = this.#begin();
    open.objects.push({ oid, crc, at: open.size });
    this.#write(open, bytes);
  }

  /** Begins an object received in pieces. `end` adds or drops the object; no other object may be appended before. */
  start(): { write: (bytes: Buffer) => void; end: (object: { oid: string; crc: number } | undefined) => void } {
    const open = this.#begin();
    const at = open.size;
    return {
      write: (bytes) => this.#write(open, bytes),
      end: (object) => {
        this.#flushBlock(open);
        if (object === undefined) open.size = at;
        else open.objects.push({ ...object, at });
      },
    };
  }

  /** The pack is on disk when this returns. Returns the ids of its objects. */
  async finish(): Promise<string[]> {
    const open = this.#open;
    if (open === undefined) return [];
    const { paths, fd, objects } = open;
    if (objects.length > 0) {
      this.#flushBlock(open);
      writeAll(fd, pack.packHeader(objects.length), 0);
      const trailer = await this.#hashOf(open);
      writeAll(fd, trailer, open.size);
      // The last object may have been dropped, with bytes left in the file.
      ftruncateSync(fd, open.size + trailer.length);
      await syncOpen(fd);
      await writeSynced(paths.tmpIndex, pack.packIndex(objects, trailer), 0o444);
      await pack.commitPack(paths);
    }
    this[Symbol.dispose]();
    return objects.map(({ oid }) => oid);
  }

  [Symbol.dispose](): void {
    if (this.#open === undefined) return;
    closeSync(this.#open.fd);
    pack.removeTemporaryPack(this.#open.paths);
    this.#open = undefined;
  }

  #begin(): Open {
    if (this.#open !== undefined) return this.#open;
    const paths = pack.newPackPaths(this.#gitDir);
    const fd = openSync(paths.tmpPack, 'wx+', 0o444);
    const head = pack.packHeader(0);
    writeAll(fd, head, 0);
    this.#open = { paths, fd, objects: [], size: head.length, waiting: 0 };
    return this.#open;
  }

  #write(open: Open, bytes: Uint8Array): void {
    if (open.waiting + bytes.length > this.#block.length) this.#flushBlock(open);
    if (bytes.length > this.#block.length) {
      writeAll(open.fd, bytes, open.size);
    } else {
      this.#block.set(bytes, open.waiting);
      open.waiting += bytes.length;
    }
    open.size += bytes.length;
  }

  #flushBlock(open: Open): void {
    writeAll(open.fd, this.#block.subarray(0, open.waiting), open.size - open.waiting);
    open.waiting = 0;
  }

  /**
   * The header contains the number of objects, known only at the end: so the pack is read again, from the page cache. A pack may have a
   * GiB: other work of the process continues between its pieces.
   */
  async #hashOf(open: Open): Promise<Buffer> {
    const maybeYield = createYielder();
    const hash = createHash('sha1');
    const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, open.size));
    for (let position = 0; position < open.size; ) {
      const read = readSync(open.fd, piece, 0, Math.min(piece.length, open.size - position), position);
      if (read === 0) throw new Error('a pack became shorter while it was written');
      hash.update(piece.subarray(0, read));
      position += read;
      const pause = maybeYield();
      if (pause === undefined) continue;
      await pause;
      // The descriptor may belong to another file by now.
      if (this.#open !== open) throw new Error('a pack was dropped while it was written');
    }
    return hash.digest();
  }
}
