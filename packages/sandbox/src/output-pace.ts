import type { Readable } from 'node:stream';

const windowMs = 50;
/** 80 MiB a second: more than builds print. The redaction of an endless output at this pace leaves the worker most of its time. */
const bytesPerWindow = 4 * 1024 * 1024;

/** Slows the reading of output past the limit, when the output is cut: the command then waits for its pipe. */
export class OutputPace {
  readonly #streams: readonly Readable[];
  readonly #now: () => number;
  #windowEnd = 0;
  #read = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(streams: readonly Readable[], now: () => number) {
    this.#streams = streams;
    this.#now = now;
  }

  count(bytes: number): void {
    const now = this.#now();
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + windowMs;
      this.#read = 0;
    }
    this.#read += bytes;
    if (this.#read < bytesPerWindow || this.#timer !== undefined) return;
    for (const stream of this.#streams) stream.pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#resume();
    }, this.#windowEnd - now);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#resume();
  }

  #resume(): void {
    for (const stream of this.#streams) stream.resume();
  }
}
