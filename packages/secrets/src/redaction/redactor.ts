import { type NamedValue, type Patterns, patternsOf, Scanner, type Span } from './scanner.ts';

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
function openRedactionStream(patterns: Patterns): RedactionStream {
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

/** Finds and replaces the values of secrets, in every form known to `forms.ts` and `scanner.ts`. Takes time in proportion to the input. */
export interface Redactor {
  readonly isEmpty: boolean;
  /** The text with each secret replaced by `[secret NAME]`. */
  text(text: string): string;
  /** A JSON value with all its texts redacted, names of fields included. A value without a secret is returned as the same object. */
  json<Value>(value: Value): Value;
  stream(): RedactionStream;
  /** The names of the secrets in the content. */
  find(content: string | Uint8Array): string[];
  /** Looks for secrets in content read in parts. */
  search(): { read(chunk: Uint8Array): void; found(): string[] };
}

export function openRedactor(values: readonly NamedValue[]): Redactor {
  if (values.length === 0) return nothingToRedact;
  const patterns = patternsOf(values);
  const search = () => {
    const scanner = new Scanner(patterns);
    return {
      read: (chunk: Uint8Array) => scanner.read(chunk),
      found: () => [...new Set(scanner.take().map(({ name }) => name))],
    };
  };
  const find = (content: string | Uint8Array): string[] => {
    const one = search();
    one.read(typeof content === 'string' ? Buffer.from(content) : content);
    return one.found();
  };
  const text = (input: string): string => {
    const stream = openRedactionStream(patterns);
    const bytes = Buffer.from(input);
    const redacted = Buffer.concat([stream.push(bytes), stream.end()]);
    // A text with lone surrogates is no UTF-8: without a secret the text is returned unchanged.
    return redacted.equals(bytes) ? input : redacted.toString();
  };
  return {
    isEmpty: false,
    text,
    // A single pass over all texts costs less than a pass per text, and a value without a secret needs no copy.
    json(value) {
      const texts: string[] = [];
      collectTexts(value, texts);
      return find(texts.join('\0')).length === 0 ? value : (redactWithin(value, text) as typeof value);
    },
    stream: () => openRedactionStream(patterns),
    find,
    search,
  };
}

/** Secrets have no NUL, so no form of a secret reaches from a text into the next. */
function collectTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collectTexts(item, texts);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      texts.push(name);
      collectTexts(item, texts);
    }
  }
}

function redactWithin(value: unknown, text: (input: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : text(String(value));
  if (Array.isArray(value)) return value.map((item) => redactWithin(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [text(name), redactWithin(item, text)]));
}

const nothingToRedact: Redactor = {
  isEmpty: true,
  text: (text) => text,
  json: (value) => value,
  stream: () => ({ push: (chunk) => Buffer.from(chunk), rest: () => Buffer.alloc(0), end: () => Buffer.alloc(0) }),
  find: () => [],
  search: () => ({ read: () => {}, found: () => [] }),
};
