/** Splits bytes into lines of bounded length. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** False when a line is longer than allowed; do not push any more then. */
  push(chunk: Buffer): boolean {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      if (!this.#add(rest.subarray(0, end))) return false;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#onLine(line);
    }
    return this.#add(rest);
  }

  #add(part: Buffer): boolean {
    if (part.length > 0) this.#parts.push(part);
    this.#bytes += part.length;
    return this.#bytes <= this.#maxBytes;
  }
}
