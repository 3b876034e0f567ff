import { plain } from '@holdpoint/readable';

const longest = 200;

/** A text from outside, for a sentence of Holdpoint: in quotes, on one line, bounded, with hidden characters shown. */
export function quoted(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return JSON.stringify(plain(cut));
}
