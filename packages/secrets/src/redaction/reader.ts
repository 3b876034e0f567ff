import type { Automaton } from './automaton.ts';

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
