/** Characters of a text that count. */
const maxLength = 300;

/** The pairs of neighbouring characters in the beginning of a text. */
export function bigramsOf(text: string): Set<string> {
  const start = text.trim().slice(0, maxLength);
  return new Set(Array.from({ length: Math.max(start.length - 1, 0) }, (_, index) => start.slice(index, index + 2)));
}

/** The likeness of two texts by their pairs of characters (Dice): from 0 to 1. Takes linear time. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}
