/** Characters kept at the beginning of a long text. */
const longestText = 2000;

/**
 * A JSON value whose text has at most `most` characters. Each cut states the size of the missing part: long texts are cut first; when the
 * value is still too long, the beginning of the whole JSON text stands for the value.
 */
export function cutValue(value: unknown, most: number): unknown {
  if (lengthOf(value) <= most) return value;
  const short = shorten(value);
  return lengthOf(short) <= most ? short : cutText(JSON.stringify(value) ?? 'null', Math.floor(most / 2));
}

const lengthOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value, longestText);
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shorten(inner)]));
}

function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n… [cut: the first ${most} of ${text.length} characters are shown]`;
}
