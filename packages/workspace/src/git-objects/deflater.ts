import { Worker } from 'node:worker_threads';
import { type PackedObject, packObject } from './pack.ts';

/** Blobs that are compressed together, one after the other in `content`. Numbers are cheaper to send than objects. */
export interface Batch {
  content: Uint8Array;
  lengths: Uint32Array;
  /** Buffer for the pack entries. */
  output: Uint8Array;
}

/** The pack entries of a batch, one after the other in `bytes`. `content` is returned for reuse. */
export interface Deflated {
  content: Uint8Array;
  bytes: Uint8Array;
  lengths: Uint32Array;
  crcs: Uint32Array;
}

interface OpenBatch {
  content: Uint8Array;
  filled: number;
  blobs: { oid: string; length: number }[];
}

const batchBytes = 1024 * 1024;
/** Content that may wait for the thread. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** Incompressible content becomes slightly longer. */
const outputBytes = batchBytes + 64 * 1024;

/**
 * Compresses blobs on a second thread: for 10,000 source files compressing takes as long as copying. The thread starts when the first batch
 * is full, so that a few small files need none, and ends with the deflater.
 */
export class Deflater {
  #open: OpenBatch | undefined;
  /** Batches sent to the thread, oldest first. */
  readonly #sent: OpenBatch[] = [];
  #sentBytes = 0;
  /** Buffers that the thread returned. V8 frees transferred buffers late: without reuse a copy of 1.2 GB took 2.3 GB. */
  #spareContents: Uint8Array[] = [];
  #spareOutputs: Uint8Array[] = [];
  #usedOutputs: Uint8Array[] = [];
  #thread: Worker | undefined;
  #failure: unknown;
  #done: PackedObject[] = [];
  #doneBytes = 0;
  #progress = Promise.withResolvers<void>();

  /** Compressed bytes that are ready. */
  get bytes(): number {
    return this.#doneBytes;
  }

  /** Copies the content. */
  add(oid: string, content: Uint8Array): void {
    const batch = this.#batchFor(content.length);
    batch.content.set(content, batch.filled);
    batch.filled += content.length;
    batch.blobs.push({ oid, length: content.length });
  }

  /** A promise to wait for before adding more, when too much content waits for the thread. */
  backpressure(): Promise<void> | undefined {
    return this.#sentBytes > maxWaitingBytes ? this.#until(() => this.#sentBytes <= maxWaitingBytes / 2) : undefined;
  }

  /** Everything added since the last call, compressed. */
  async drain(): Promise<PackedObject[]> {
    if (this.#thread === undefined) this.#deflateHere();
    else this.#send(this.#thread);
    await this.#until(() => this.#sent.length === 0);
    const done = this.#done;
    this.#done = [];
    this.#doneBytes = 0;
    this.#usedOutputs = [];
    return done;
  }

  /** Passes on what is ready. The bytes are valid only until `use` returns. */
  take(use: (object: PackedObject) => void): void {
    for (const object of this.#done) use(object);
    this.#done = [];
    this.#doneBytes = 0;
    this.#spareOutputs.push(...this.#usedOutputs);
    this.#usedOutputs = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.terminate();
  }

  #batchFor(bytes: number): OpenBatch {
    const last = this.#open;
    if (last !== undefined && last.filled + bytes <= last.content.length) return last;
    if (last !== undefined) {
      this.#thread ??= this.#start();
      this.#send(this.#thread);
    }
    const spare = bytes <= batchBytes ? this.#spareContents.pop() : undefined;
    // Not from Node's buffer pool, because it is transferred to the other thread.
    const content = spare ?? Buffer.allocUnsafeSlow(Math.max(batchBytes, bytes));
    this.#open = { content, filled: 0, blobs: [] };
    return this.#open;
  }

  #deflateHere(): void {
    const { content, blobs } = this.#open ?? { content: Buffer.alloc(0), blobs: [] };
    this.#open = undefined;
    let position = 0;
    for (const { oid, length } of blobs) {
      position += length;
      this.#keep(packObject(oid, 'blob', content.subarray(position - length, position)));
    }
  }

  #send(thread: Worker): void {
    const batch = this.#open;
    if (batch === undefined) return;
    this.#open = undefined;
    this.#sent.push(batch);
    this.#sentBytes += batch.filled;
    const { content } = batch;
    const lengths = Uint32Array.from(batch.blobs, (blob) => blob.length);
    const output = this.#spareOutputs.pop() ?? Buffer.allocUnsafeSlow(outputBytes);
    const transferred = [content.buffer as ArrayBuffer, lengths.buffer, output.buffer as ArrayBuffer];
    thread.postMessage({ content, lengths, output } satisfies Batch, transferred);
  }

  #start(): Worker {
    const thread = new Worker(new URL('./deflate-thread.ts', import.meta.url), {
      execArgv: [],
      env: {},
      // The thread keeps nothing between batches.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    thread.on('message', (deflated: Deflated) => this.#receive(deflated));
    thread.on('error', (error) => this.#fail(error));
    // Also emitted after an error, when `#failure` is set already.
    thread.on('exit', (code) => this.#fail(new Error(`the deflate thread exited with ${code}`)));
    return thread;
  }

  /** The thread returns batches in the order they were sent. */
  #receive({ content, bytes, lengths, crcs }: Deflated): void {
    const { blobs, filled } = this.#sent.shift() ?? { blobs: [], filled: 0 };
    let position = bytes.byteOffset;
    for (const [index, { oid }] of blobs.entries()) {
      const length = lengths[index] ?? 0;
      this.#keep({ oid, crc: crcs[index] ?? 0, bytes: Buffer.from(bytes.buffer, position, length) });
      position += length;
    }
    this.#sentBytes -= filled;
    if (content.length === batchBytes) this.#spareContents.push(content);
    if (bytes.length === outputBytes) this.#usedOutputs.push(bytes);
    this.#wake();
  }

  #keep(object: PackedObject): void {
    this.#done.push(object);
    this.#doneBytes += object.bytes.length;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#progress.promise;
    }
  }
}
