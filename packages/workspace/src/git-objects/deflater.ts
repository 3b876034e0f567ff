import { Worker } from 'node:worker_threads';
import type { PackedObject } from './pack.ts';
import { packObject } from './pack.ts';

/** Blobs that are compressed in one go; their content lies in `content`, one after the other. */
export interface Batch {
  content: Uint8Array;
  blobs: { oid: string; length: number }[];
}

/** A batch as it comes back; what a pack holds of the blobs lies in `bytes`, one after the other. */
export interface Deflated {
  /** Bytes of content. */
  taken: number;
  bytes: Uint8Array;
  objects: { oid: string; crc: number; length: number }[];
}

const batchBytes = 1024 * 1024;
/** Content that may wait for the thread, bytes. */
const mostWaiting = 32 * 1024 * 1024;

/**
 * Compresses blobs beside the thread that reads them: for 10,000 source files that takes as long as copying them. The thread is
 * started when a first batch is full, so that a few small files do without, and is ended with the deflater.
 */
export class Deflater {
  #batch: Batch | undefined;
  #filled = 0;
  #waiting = 0;
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
    const batch = this.#roomFor(content.length);
    batch.content.set(content, this.#filled);
    batch.blobs.push({ oid, length: content.length });
    this.#filled += content.length;
  }

  /** A promise when so much is waiting that nothing should be added until it is settled. */
  relieve(): Promise<void> | undefined {
    return this.#waiting > mostWaiting ? this.#waitUntil(mostWaiting / 2) : undefined;
  }

  /** All that was added, and was not drained before. */
  async drain(): Promise<PackedObject[]> {
    if (this.#thread !== undefined) this.#send();
    await this.#waitUntil(0);
    const { content, blobs } = this.#takeBatch() ?? emptyBatch(0);
    let position = 0;
    for (const { oid, length } of blobs) {
      position += length;
      this.#keep(packObject(oid, 'blob', content.subarray(position - length, position)));
    }
    const done = this.#done;
    this.#done = [];
    this.#doneBytes = 0;
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }

  #roomFor(bytes: number): Batch {
    if (this.#batch !== undefined && this.#filled + bytes <= this.#batch.content.length) return this.#batch;
    this.#send();
    this.#batch = emptyBatch(Math.max(batchBytes, bytes));
    return this.#batch;
  }

  #send(): void {
    const bytes = this.#filled;
    const batch = this.#takeBatch();
    if (batch === undefined) return;
    this.#thread ??= this.#start();
    this.#waiting += bytes;
    this.#thread.postMessage(batch, [batch.content.buffer as ArrayBuffer]);
  }

  #takeBatch(): Batch | undefined {
    const batch = this.#batch;
    this.#batch = undefined;
    this.#filled = 0;
    return batch;
  }

  #start(): Worker {
    const thread = new Worker(new URL('./deflate-thread.ts', import.meta.url), { execArgv: [], env: {} });
    thread.on('message', ({ taken, bytes, objects }: Deflated) => {
      let position = 0;
      for (const { oid, crc, length } of objects) {
        position += length;
        this.#keep({ oid, crc, bytes: Buffer.from(bytes.buffer, bytes.byteOffset + position - length, length) });
      }
      this.#waiting -= taken;
      this.#hear();
    });
    thread.on('error', (error) => this.#fail(error));
    // Heard after an error, too; by then nobody waits for it.
    thread.on('exit', (code) => this.#fail(new Error(`the thread that compresses ended with ${code}`)));
    return thread;
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

  async #waitUntil(most: number): Promise<void> {
    while (this.#waiting > most) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#heard.promise;
    }
  }
}

function emptyBatch(size: number): Batch {
  // A buffer of its own and not a part of node's pool, because it moves to the other thread.
  return { content: Buffer.allocUnsafeSlow(size), blobs: [] };
}
