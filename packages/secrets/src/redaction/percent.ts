import type { Reader } from './reader.ts';

/** Reads percent-encoding: any byte may be written plainly or as `%41`. */
export class PercentDecoder {
  readonly #reader: Reader;
  /** The characters of an incomplete encoding. */
  #open: number[] = [];
  #at = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  read(byte: number, at: number): void {
    if (this.#open.length === 0) {
      if (byte === percent) {
        this.#open.push(byte);
        this.#at = at;
      } else this.#reader.read(byte, at, at + 1);
      return;
    }
    if (digit(byte) === undefined) {
      this.#release();
      this.read(byte, at);
      return;
    }
    this.#open.push(byte);
    const [, high = 0, low] = this.#open;
    if (low === undefined) return;
    this.#open = [];
    this.#reader.read((digit(high) ?? 0) * 16 + (digit(low) ?? 0), this.#at, at + 1);
  }

  get pending(): number | undefined {
    return this.#reader.pending ?? (this.#open.length > 0 ? this.#at : undefined);
  }

  get likely(): number | undefined {
    return this.#reader.likely;
  }

  /** The characters were no encoding and stand for themselves. */
  #release(): void {
    const open = this.#open;
    this.#open = [];
    open.forEach((byte, index) => {
      this.#reader.read(byte, this.#at + index, this.#at + index + 1);
    });
  }
}

const percent = 0x25;

function digit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
