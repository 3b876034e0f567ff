import type { CapturedStream } from '@holdpoint/contract';

/** Bytes kept at each end. */
const keptBytes = 32 * 1024;

/** Keeps the first and last 32 KiB of a stream in constant memory, or only counts its bytes. */
export class Capture {
  readonly #keeps: boolean;
  #bytes = 0;
  #head = Buffer.alloc(0);
  /** A ring buffer, allocated when the head is full. */
  #tail: Buffer | null = null;
  #tailStart = 0;
  #tailBytes = 0;

  constructor(keeps = true) {
    this.#keeps = keeps;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Copies the bytes that it keeps. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (!this.#keeps) return;
    const free = keptBytes - this.#head.length;
    if (free > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, free)]);
    const rest = chunk.subarray(Math.max(free, 0));
    if (rest.length > 0) this.#pushTail(rest.subarray(Math.max(rest.length - keptBytes, 0)));
  }

  /** @param bytes at most the size of the ring */
  #pushTail(bytes: Buffer): void {
    this.#tail ??= Buffer.alloc(keptBytes);
    const at = (this.#tailStart + this.#tailBytes) % keptBytes;
    const untilWrap = bytes.copy(this.#tail, at);
    bytes.copy(this.#tail, 0, untilWrap);
    const lost = Math.max(this.#tailBytes + bytes.length - keptBytes, 0);
    this.#tailStart = (this.#tailStart + lost) % keptBytes;
    this.#tailBytes += bytes.length - lost;
  }

  #readTail(): Buffer {
    if (!this.#tail) return Buffer.alloc(0);
    const twice = Buffer.concat([this.#tail, this.#tail]);
    return twice.subarray(this.#tailStart, this.#tailStart + this.#tailBytes);
  }

  /** Decodes once, so that only a character at the cut is lost, with both its halves. */
  end(): CapturedStream {
    const tail = this.#readTail();
    if (!this.#keeps) return { text: '', bytes: this.#bytes, truncated: false };
    const omitted = this.#bytes - this.#head.length - tail.length;
    if (omitted <= 0) {
      return { text: Buffer.concat([this.#head, tail]).toString('utf8'), bytes: this.#bytes, truncated: false };
    }
    const head = withoutPartialEnd(this.#head);
    const end = withoutPartialStart(tail);
    const dropped = this.#bytes - head.length - end.length;
    const text = `${head.toString('utf8')}\n[… ${dropped} bytes omitted …]\n${end.toString('utf8')}`;
    return { text, bytes: this.#bytes, truncated: true };
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
