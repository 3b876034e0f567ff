import { Automaton, type Pattern } from './automaton.ts';
import { formsOf } from './forms.ts';

/** A found form of a secret: bytes `from` up to `to` of the stream. */
export interface Span {
  from: number;
  to: number;
  name: string;
}

/** Reads a stream for the patterns of an automaton. `positions` gives the place in the stream of each byte in the last input. */
export class Reader {
  readonly #automaton: Automaton;
  readonly #onSpan: (span: Span) => void;
  readonly #positions: Float64Array;
  readonly #mask: number;
  #node = 0;
  #count = 0;

  constructor(automaton: Automaton, onSpan: (span: Span) => void) {
    this.#automaton = automaton;
    this.#onSpan = onSpan;
    const size = 2 ** Math.ceil(Math.log2(automaton.longest + 1));
    this.#positions = new Float64Array(size);
    this.#mask = size - 1;
  }

  /** @param at where the byte is written in the stream, from `at` up to `end` */
  read(byte: number, at: number, end: number): void {
    const automaton = this.#automaton;
    const node = automaton.next(this.#node, byte);
    this.#node = node;
    if (node === 0) return;
    this.#positions[this.#count++ & this.#mask] = at;
    const found = automaton.match(node);
    if (found) this.#onSpan({ from: this.#positionBefore(found.bytes.length), to: end, name: found.name });
  }

  /** The last bytes cannot become a part of a match any more. */
  reset(): void {
    this.#node = 0;
  }

  /** Where the beginning of a possible match is written; undefined: there is none. */
  get pending(): number | undefined {
    return this.#node === 0 ? undefined : this.#positionBefore(this.#automaton.depth(this.#node));
  }

  /** The same for the beginning of a match that has half of it or more. */
  get likely(): number | undefined {
    const bytes = this.#automaton.likely(this.#node);
    return bytes === 0 ? undefined : this.#positionBefore(bytes);
  }

  #positionBefore(bytes: number): number {
    return this.#positions[(this.#count - bytes) & this.#mask] as number;
  }
}

/** The patterns of all values, made once. */
export interface Patterns {
  text: Automaton;
  compact: Automaton;
  plain: Automaton;
}

export interface NamedValue {
  name: string;
  value: string;
}

export function patternsOf(values: readonly NamedValue[]): Patterns {
  const pick = (select: (value: string) => readonly Buffer[]) =>
    new Automaton(values.flatMap(({ name, value }) => select(value).map((bytes): Pattern => ({ bytes, name }))));
  return {
    text: pick((value) => formsOf(value).text),
    compact: pick((value) => formsOf(value).compact),
    plain: pick((value) => [Buffer.from(value), Buffer.from(value.replaceAll(' ', '+'))]),
  };
}

/** White space within a wrapped form; more white space ends the form. */
const mostWhiteSpace = 16;

/** Finds every form of the secrets in a stream of bytes, in a single pass, across chunks. */
export class Scanner {
  readonly #text: Reader;
  readonly #compact: Reader;
  readonly #percent: PercentDecoder;
  /** Found since the last call of `take`. */
  #spans: Span[] = [];
  #white = 0;
  #at = 0;

  constructor({ text, compact, plain }: Patterns) {
    const note = (span: Span) => {
      this.#spans.push(span);
    };
    this.#text = new Reader(text, note);
    this.#compact = new Reader(compact, note);
    this.#percent = new PercentDecoder(new Reader(plain, note));
  }

  read(chunk: Uint8Array): void {
    let at = this.#at;
    for (let index = 0; index < chunk.length; index++, at++) {
      const byte = chunk[index] as number;
      this.#text.read(byte, at, at + 1);
      this.#percent.read(byte, at);
      if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) {
        if (++this.#white > mostWhiteSpace) this.#compact.reset();
      } else {
        this.#white = 0;
        this.#compact.read(byte, at, at + 1);
      }
    }
    this.#at = at;
  }

  /** The spans found since the last call. They may overlap. */
  take(): Span[] {
    const spans = this.#spans;
    this.#spans = [];
    return spans;
  }

  /** No later match begins before this byte. */
  get settled(): number {
    return Math.min(
      this.#text.pending ?? this.#at,
      this.#compact.pending ?? this.#at,
      this.#percent.pending ?? this.#at,
    );
  }
  /** The same, except for matches with less than half of their bytes so far. */
  get likely(): number {
    return Math.min(this.#text.likely ?? this.#at, this.#compact.likely ?? this.#at, this.#percent.likely ?? this.#at);
  }
}

/** Reads percent-encoding: any byte may be written plainly or as `%41`. */
class PercentDecoder {
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
