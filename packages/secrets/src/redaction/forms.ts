/** How a value may be written. `text`: unchanged. `compact`: in text with possible line wraps, so white space does not count. */
export interface Forms {
  text: Buffer[];
  compact: Buffer[];
}

/** A line of a value with several lines, such as a key, is found alone from this length on. */
const shortestLine = 16;

/** Wrapped values are found from this length on: shorter ones could be two words of a text. */
const shortestWrapped = 16;

/** Every written form of a secret found by patterns. `scanner.ts` finds percent-encoded secrets. */
export function formsOf(value: string): Forms {
  const parts = [value, ...linesOf(value)];
  return {
    text: unique(parts.flatMap((part) => [part, ...jsonForms(part), part.replaceAll(' ', '+')])),
    compact: unique([
      ...base64Forms(Buffer.from(value)),
      ...hexForms(Buffer.from(value)),
      ...(value.length >= shortestWrapped && !/\s/.test(value) ? [value] : []),
    ]),
  };
}

function linesOf(value: string): string[] {
  if (!value.includes('\n')) return [];
  return value
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
}

/** As in JSON, in JSON within JSON, with and without `\/`, and in ASCII alone. */
function jsonForms(value: string): string[] {
  const once = escaped(value);
  const ascii = [once, asAscii(once, false), asAscii(once, true)];
  const both = ascii.flatMap((form) => [form, form.replaceAll('/', '\\/')]);
  return both.flatMap((form) => [form, escaped(form)]);
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

function asAscii(text: string, upper: boolean): string {
  return text.replaceAll(/[^\x20-\x7e]/g, (char) => {
    const hex = char.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${upper ? hex.toUpperCase() : hex}`;
  });
}

/**
 * The base64 characters determined by the value alone, for each of the three offsets within a group of three bytes. Characters at the edges
 * also hold bits of the neighbouring bytes.
 */
function base64Forms(value: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), value])
      .toString('base64')
      .replace(/=+$/, '');
    const first = Math.ceil((before * 8) / 6);
    const whole = Math.floor(((before + value.length) * 8) / 6);
    const standard = encoded.slice(first, whole);
    return [standard, standard.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function hexForms(value: Buffer): string[] {
  const hex = value.toString('hex');
  return [hex, hex.toUpperCase()];
}

const unique = (forms: readonly string[]): Buffer[] => [...new Set(forms)].map((form) => Buffer.from(form));
