import type { CapturedStream } from '@holdpoint/contract';

/** Default number of bytes of a stream to keep in a result. */
const defaultKeptBytes = 64 * 1024;
const blockBytes = 64 * 1024;

/** Keeps the first and last half of `keptBytes` of a stream in bounded memory. */
export class Capture {
  #bytes = 0;
  readonly #head: Blocks;
  readonly #tail: Blocks;

  constructor(keptBytes = defaultKeptBytes) {
    this.#head = new Blocks(Math.ceil(keptBytes / 2));
    this.#tail = new Blocks(Math.floor(keptBytes / 2));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of the stream in the text of `end`. */
  get kept(): number {
    return this.#head.size + this.#tail.size;
  }

  /** Copies the bytes to keep. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const free = this.#head.free;
    this.#head.push(chunk.subarray(0, free));
    this.#tail.push(chunk.subarray(free));
  }

  /**
   * Decodes the kept halves at the end, so only characters at the cut are lost. Both halves of such a character are dropped.
   * @param most maximum of bytes in the text, if less than `keptBytes`
   */
  end(most = Number.POSITIVE_INFINITY): CapturedStream {
    const [first, last] = this.#read(most);
    if (this.#bytes === first.length + last.length) {
      return { text: Buffer.concat([first, last]).toString('utf8'), bytes: this.#bytes, truncated: false };
    }
    const head = withoutPartialEnd(first);
    const end = withoutPartialStart(last);
    const dropped = this.#bytes - head.length - end.length;
    const text = `${head.toString('utf8')}\n[… ${dropped} bytes omitted …]\n${end.toString('utf8')}`;
    return { text, bytes: this.#bytes, truncated: true };
  }

  #read(most: number): [Buffer, Buffer] {
    const [first, last] = [this.#head.read(), this.#tail.read()];
    if (first.length + last.length <= most) return [first, last];
    const [head, tail] = [Math.ceil(most / 2), Math.floor(most / 2)];
    // A short stream lies completely in the first half.
    const end = last.length >= tail ? last : Buffer.concat([first, last]);
    return [first.subarray(0, head), end.subarray(end.length - tail)];
  }
}

/**
 * Both streams of a command, with at most `most` bytes together. The shorter stream keeps up to half of `most`, the other stream gets the
 * rest.
 */
export function endTogether(stdout: Capture, stderr: Capture, most: number): [CapturedStream, CapturedStream] {
  const half = Math.floor(most / 2);
  const shareOf = (other: Capture) => most - Math.min(other.kept, half);
  return [stdout.end(shareOf(stderr)), stderr.end(shareOf(stdout))];
}

/**
 * The last `maxBytes` of the pushed bytes. Memory grows in blocks with the content, so many small chunks cost no more than a large chunk.
 */
class Blocks {
  readonly #maxBytes: number;
  readonly #blocks: Buffer[] = [];
  /** Used bytes of the last block. */
  #used = blockBytes;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return Math.min(this.#bytes, this.#maxBytes);
  }

  /** Bytes to push before the first bytes are dropped. */
  get free(): number {
    return Math.max(this.#maxBytes - this.#bytes, 0);
  }

  push(chunk: Buffer): void {
    let rest = chunk.subarray(Math.max(chunk.length - this.#maxBytes, 0));
    while (rest.length > 0) {
      if (this.#used === blockBytes) this.#append();
      const copied = rest.copy(this.#blocks.at(-1) ?? rest, this.#used);
      this.#used += copied;
      this.#bytes += copied;
      rest = rest.subarray(copied);
    }
    while (this.#bytes - blockBytes >= this.#maxBytes && this.#blocks.length > 1) {
      this.#blocks.shift();
      this.#bytes -= blockBytes;
    }
  }

  #append(): void {
    this.#blocks.push(Buffer.allocUnsafe(blockBytes));
    this.#used = 0;
  }

  read(): Buffer {
    const whole = Buffer.concat(this.#blocks).subarray(0, this.#bytes);
    return whole.subarray(Math.max(whole.length - this.#maxBytes, 0));
  }
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

function withoutPartialEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + needed > bytes.length ? bytes.subarray(0, start) : bytes;
}

function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}
