import { openRedactionStream, type RedactionStream } from './redaction-stream.ts';
import { type NamedValue, patternsOf, Scanner } from './scanner.ts';

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
