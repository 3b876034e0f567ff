import { type Patterns, Scanner, type Span } from './scanner.ts';

/** Redacts bytes as they arrive. */
export interface RedactionStream {
  /** Returns bytes known to be free of secrets. The stream holds a possible beginning of a secret until more bytes arrive. */
  push(chunk: Uint8Array): Buffer;
  /**
   * Returns the held bytes of a silent stream, unless they are half of a secret or more. The rest of a secret that follows later becomes a
   * mark.
   */
  rest(): Buffer;
  /** The held bytes. */
  end(): Buffer;
}

/** @returns a stream with each secret replaced by its mark. The stream holds less than the longest form of a secret. */
export function openRedactionStream(patterns: Patterns): RedactionStream {
  const scanner = new Scanner(patterns);
  let held: Buffer = Buffer.alloc(0);
  /** Where `held` begins in the stream. */
  let start = 0;
  /** A written mark replaces the stream up to this byte. */
  let replaced = 0;
  let spans: Span[] = [];

  /** @param to no byte before the last release comes again: a match may begin in what was released. */
  const release = (to: number): Buffer => {
    const until = Math.max(to, start);
    const parts: Buffer[] = [];
    let at = Math.max(start, replaced);
    const clean = (end: number) => {
      if (end > at) parts.push(held.subarray(at - start, end - start));
      at = Math.max(at, end);
    };
    const later: Span[] = [];
    for (const span of spans.sort((a, b) => a.from - b.from)) {
      if (span.from >= until) later.push(span);
      else if (span.to > replaced) {
        clean(Math.min(span.from, until));
        if (span.from >= replaced) parts.push(Buffer.from(markOf(span.name)));
        replaced = span.to;
        at = Math.max(at, replaced);
      }
    }
    clean(until);
    held = held.subarray(until - start);
    start = until;
    spans = later;
    return Buffer.concat(parts);
  };

  return {
    push(chunk) {
      scanner.read(chunk);
      held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
      spans.push(...scanner.take());
      return release(Math.min(scanner.settled, start + held.length));
    },
    rest: () => release(Math.min(scanner.likely, start + held.length)),
    end: () => release(start + held.length),
  };
}

/** The replacement of a secret. */
const markOf = (name: string): string => `[secret ${name}]`;
