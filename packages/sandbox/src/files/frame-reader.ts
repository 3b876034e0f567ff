/** Splits bytes into lines of limited length. Each line announces a number of raw bytes, and the bytes follow the line. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: Buffer) => number;
  readonly #onData: (data: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Raw bytes announced by the last line. 0 while reading a line. */
  #announced = 0;

  /** @param onLine returns the number of raw bytes after the line. `onData` gets the raw bytes in a single piece */
  constructor(maxBytes: number, onLine: (line: Buffer) => number, onData: (data: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onData = onData;
  }

  /** False when a line is too long. The caller must not push any more then. */
  push(chunk: Buffer): boolean {
    let rest = chunk;
    while (rest.length > 0) {
      const end = this.#announced > 0 ? this.#announced - this.#bytes : rest.indexOf(10);
      if (end === -1 || end > rest.length) return this.#add(rest);
      if (!this.#add(rest.subarray(0, end))) return false;
      if (this.#announced > 0) {
        this.#announced = 0;
        this.#onData(this.#take());
        rest = rest.subarray(end);
      } else {
        this.#announced = this.#onLine(this.#take());
        rest = rest.subarray(end + 1);
      }
    }
    return true;
  }

  #add(part: Buffer): boolean {
    if (part.length > 0) this.#parts.push(part);
    this.#bytes += part.length;
    return this.#announced > 0 || this.#bytes <= this.#maxBytes;
  }

  #take(): Buffer {
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole;
  }
}
