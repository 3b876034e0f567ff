import type { Span } from './reader.ts';
import { type Patterns, Scanner } from './scanner.ts';

/** Redacts bytes as they arrive. */
export interface RedactionStream {
  /** Returns bytes known to be free of secrets. The stream holds a possible beginning of a secret until more bytes arrive. */
  push(chunk: Uint8Array): Buffer;
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

  const release = (until: number): Buffer => {
    const parts: Buffer[] = [];
    let at = Math.max(start, replaced);
    const clean = (to: number) => {
      if (to > at) parts.push(held.subarray(at - start, to - start));
      at = Math.max(at, to);
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
    held = held.subarray(Math.max(until - start, 0));
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
    end: () => release(start + held.length),
  };
}

/** The replacement of a secret. */
const markOf = (name: string): string => `[secret ${name}]`;
