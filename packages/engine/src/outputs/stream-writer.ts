import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputStream, segmentName } from './segments.ts';
import { isContinuation, mostContinuations } from './utf8.ts';

export interface Bounds {
  headBytes: number;
  tailBytes: number;
  segmentBytes: number;
}

/** Writes the files of a stream. A stream has a single writer. */
export class StreamWriter {
  readonly #folder: string;
  readonly #stream: OutputStream;
  readonly #bounds: Bounds;
  #total = 0;
  #file: number | undefined;
  /** Where the newest file begins. */
  #start = 0;
  /** Where the files of the tail begin, oldest first. */
  readonly #tail: number[] = [];

  constructor(folder: string, stream: OutputStream, bounds: Bounds) {
    this.#folder = folder;
    this.#stream = stream;
    this.#bounds = bounds;
  }

  write(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      const file = this.#fileFor(rest);
      const written = writeSync(file, rest.subarray(0, this.#fitting(rest)));
      this.#total += written;
      rest = rest.subarray(written);
    }
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #fileFor(data: Buffer): number {
    if (this.#file !== undefined && this.#fitting(data) > 0) return this.#file;
    this.close();
    this.#start = this.#total;
    this.#file = openSync(join(this.#folder, segmentName(this.#stream, this.#start)), 'wx', 0o600);
    this.#trim();
    return this.#file;
  }

  /** The number of bytes to put into the newest file. No character lies in two files, so removing a file cuts no character. */
  #fitting(data: Buffer): number {
    const left = this.#start + this.#bounds.segmentBytes - this.#total;
    let bytes = Math.min(Math.max(left, 0), data.length);
    while (bytes < left + mostContinuations && isContinuation(data[bytes])) bytes++;
    return bytes;
  }

  /** Removes the files between the head and the tail. */
  #trim(): void {
    if (this.#start < this.#bounds.headBytes) return;
    this.#tail.push(this.#start);
    for (;;) {
      const [oldest = 0, next] = this.#tail;
      if (next === undefined || this.#total - next < this.#bounds.tailBytes) return;
      rmSync(join(this.#folder, segmentName(this.#stream, oldest)), { force: true });
      this.#tail.shift();
    }
  }
}
