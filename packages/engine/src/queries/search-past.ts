import type { Json, PastFound, PastHit } from '@holdpoint/contract';

/** A part of a run's past. Its texts are read when the search reaches the part. */
export interface PastPart extends Omit<PastHit, 'text'> {
  texts(): Promise<readonly string[]>;
}

/** Characters of all texts that one search reads: a second of work. */
const mostRead = 64 * 1024 * 1024;
/** Characters of an excerpt before and after the first word. */
const around = 400;

/**
 * The parts that have every word, the latest first. A search of a very long past stops at a bound, and says from which turn on it has searched.
 * @param parts in the order of the log
 */
export async function searchPast(
  parts: readonly PastPart[],
  { words, limit }: { words: readonly string[]; limit: number },
): Promise<PastFound> {
  const wanted = words.map((word) => word.toLowerCase());
  const hits: PastHit[] = [];
  let read = 0;
  for (const { texts, ...part } of parts.toReversed()) {
    const all = await texts();
    read += all.reduce((sum, text) => sum + text.length, 0);
    const excerpt = excerptOf(all, wanted);
    if (excerpt !== undefined) hits.push({ ...part, text: excerpt });
    if (hits.length === limit || read > mostRead) return { hits, searched_from: part.turn };
  }
  return { hits };
}

/** Undefined when a word is in none of the texts. */
function excerptOf(texts: readonly string[], words: readonly string[]): string | undefined {
  const lower = texts.map((text) => text.toLowerCase());
  if (words.some((word) => lower.every((text) => !text.includes(word)))) return undefined;
  // The text with most of the words says most.
  const count = (text: string) => words.filter((word) => text.includes(word)).length;
  const best = lower.map(count).reduce((found, n, at, all) => (n > (all[found] ?? 0) ? at : found), 0);
  const [text = '', low = ''] = [texts[best], lower[best]];
  const first = Math.min(...words.map((word) => low.indexOf(word)).filter((at) => at >= 0));
  return cutAround(text, first);
}

function cutAround(text: string, at: number): string {
  const from = Math.max(0, at - around);
  const to = Math.min(text.length, at + around);
  const start = from === 0 ? 0 : text.indexOf('\n', from) + 1;
  const begin = start > from && start <= at ? start : from;
  const last = to === text.length ? to : text.lastIndexOf('\n', to);
  const end = last > at ? last : to;
  return `${begin > 0 ? '…' : ''}${text.slice(begin, end).toWellFormed()}${end < text.length ? '…' : ''}`;
}

/** The texts in a value, with the names of their fields before short ones. */
export function textsOf(value: Json | undefined, name = ''): string[] {
  if (typeof value === 'string') return [name === '' || value.includes('\n') ? value : `${name}: ${value}`];
  if (typeof value === 'number' || typeof value === 'boolean') return [name === '' ? `${value}` : `${name}: ${value}`];
  if (Array.isArray(value)) return value.flatMap((one) => textsOf(one, name));
  if (value === null || value === undefined) return [];
  return Object.entries(value).flatMap(([field, one]) => textsOf(one, field));
}
