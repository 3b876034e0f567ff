import { Worker } from 'node:worker_threads';
import { type PackedObject, packObject } from './pack.ts';

/** Blobs that are compressed in one go; their content lies in `content`, one after the other. Numbers are cheaper to send than objects. */
export interface Batch {
  content: Uint8Array;
  lengths: Uint32Array;
  /** Room for the answer. */
  room: Uint8Array;
}

/** What a pack holds of the blobs of a batch lies in `bytes`, one after the other. `content` comes back to be filled again. */
export interface Deflated {
  content: Uint8Array;
  bytes: Uint8Array;
  lengths: Uint32Array;
  crcs: Uint32Array;
}

/** A batch that is being filled. */
interface Filling {
  content: Uint8Array;
  filled: number;
  blobs: { oid: string; length: number }[];
}

const batchBytes = 1024 * 1024;
/** Content that may wait for the thread, bytes. */
const mostWaiting = 4 * 1024 * 1024;
/** Noise becomes a little longer. */
const roomBytes = batchBytes + 64 * 1024;

/**
 * Compresses blobs beside the thread that reads them: for 10,000 source files that takes as long as copying them. The thread is
 * started when a first batch is full, so that a few small files do without, and is ended with the deflater.
 */
export class Deflater {
  #filling: Filling | undefined;
  /** Batches that the thread has, the oldest first. */
  readonly #sent: Filling[] = [];
  #sentBytes = 0;
  /** Buffers that went to the thread and came back: V8 is late in freeing those that are sent away, 2.3 GB of a copy of 1.2 GB. */
  #spare: Uint8Array[] = [];
  #spareRooms: Uint8Array[] = [];
  #usedRooms: Uint8Array[] = [];
  #thread: Worker | undefined;
  #failure: unknown;
  #done: PackedObject[] = [];
  #doneBytes = 0;
  #heard = Promise.withResolvers<void>();

  /** Compressed bytes that are ready. */
  get bytes(): number {
    return this.#doneBytes;
  }

  /** Takes a copy of the content. */
  add(oid: string, content: Uint8Array): void {
    const filling = this.#roomFor(content.length);
    filling.content.set(content, filling.filled);
    filling.filled += content.length;
    filling.blobs.push({ oid, length: content.length });
  }

  /** A promise when so much is waiting that nothing should be added before it is settled. */
  relieve(): Promise<void> | undefined {
    return this.#sentBytes > mostWaiting ? this.#until(() => this.#sentBytes <= mostWaiting / 2) : undefined;
  }

  /** All that was added, and was not drained before. */
  async drain(): Promise<PackedObject[]> {
    if (this.#thread === undefined) this.#deflateHere();
    else this.#send(this.#thread);
    await this.#until(() => this.#sent.length === 0);
    const done = this.#done;
    this.#done = [];
    this.#doneBytes = 0;
    this.#usedRooms = [];
    return done;
  }

  /** What is ready by now. Its bytes may be used only until `use` returns. */
  take(use: (object: PackedObject) => void): void {
    for (const object of this.#done) use(object);
    this.#done = [];
    this.#doneBytes = 0;
    this.#spareRooms.push(...this.#usedRooms);
    this.#usedRooms = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }

  #roomFor(bytes: number): Filling {
    const last = this.#filling;
    if (last !== undefined && last.filled + bytes <= last.content.length) return last;
    if (last !== undefined) {
      this.#thread ??= this.#start();
      this.#send(this.#thread);
    }
    const spare = bytes <= batchBytes ? this.#spare.pop() : undefined;
    // A buffer of its own and not a part of node's pool, because it moves to the other thread.
    const content = spare ?? Buffer.allocUnsafeSlow(Math.max(batchBytes, bytes));
    this.#filling = { content, filled: 0, blobs: [] };
    return this.#filling;
  }

  #deflateHere(): void {
    const { content, blobs } = this.#filling ?? { content: Buffer.alloc(0), blobs: [] };
    this.#filling = undefined;
    let position = 0;
    for (const { oid, length } of blobs) {
      position += length;
      this.#keep(packObject(oid, 'blob', content.subarray(position - length, position)));
    }
  }

  #send(thread: Worker): void {
    const filling = this.#filling;
    if (filling === undefined) return;
    this.#filling = undefined;
    this.#sent.push(filling);
    this.#sentBytes += filling.filled;
    const { content } = filling;
    const lengths = Uint32Array.from(filling.blobs, (blob) => blob.length);
    const room = this.#spareRooms.pop() ?? Buffer.allocUnsafeSlow(roomBytes);
    const sent = [content.buffer as ArrayBuffer, lengths.buffer, room.buffer as ArrayBuffer];
    thread.postMessage({ content, lengths, room } satisfies Batch, sent);
  }

  #start(): Worker {
    const thread = new Worker(new URL('./deflate-thread.ts', import.meta.url), {
      execArgv: [],
      env: {},
      // All that it keeps is what it answers with.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    thread.on('message', (deflated: Deflated) => this.#receive(deflated));
    thread.on('error', (error) => this.#fail(error));
    // Heard after an error, too; by then nobody waits for it.
    thread.on('exit', (code) => this.#fail(new Error(`the thread that compresses ended with ${code}`)));
    return thread;
  }

  /** The thread answers in the order it was asked. */
  #receive({ content, bytes, lengths, crcs }: Deflated): void {
    const { blobs, filled } = this.#sent.shift() ?? { blobs: [], filled: 0 };
    let position = bytes.byteOffset;
    for (const [index, { oid }] of blobs.entries()) {
      const length = lengths[index] ?? 0;
      this.#keep({ oid, crc: crcs[index] ?? 0, bytes: Buffer.from(bytes.buffer, position, length) });
      position += length;
    }
    this.#sentBytes -= filled;
    if (content.length === batchBytes) this.#spare.push(content);
    if (bytes.length === roomBytes) this.#usedRooms.push(bytes);
    this.#hear();
  }

  #keep(object: PackedObject): void {
    this.#done.push(object);
    this.#doneBytes += object.bytes.length;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#hear();
  }

  #hear(): void {
    const { resolve } = this.#heard;
    this.#heard = Promise.withResolvers();
    resolve();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#heard.promise;
    }
  }
}
