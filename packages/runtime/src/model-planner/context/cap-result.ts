import type { Json } from '@holdpoint/contract';

export interface Capped {
  value: Json;
  /** Bytes left out of the request; 0: the value is whole. */
  leftOut: number;
}

/**
 * Shortens a value to about `most` bytes of a request. The value keeps its shape: long texts keep both ends, and long lists keep their
 * first entries. Pure, so each process cuts the same.
 */
export function capResult(value: Json, most: number): Capped {
  const whole = sentBytes(value, Number.POSITIVE_INFINITY);
  if (whole <= most) return { value, leftOut: 0 };
  const fits = (cut: Json) => sentBytes(cut, most) <= most;
  const cutTo = (cut: Json): Capped => ({ value: cut, leftOut: whole - sentBytes(cut, most) });
  const shortest = cutTexts(value, shortestText);
  for (let longest = Math.floor(most * 0.9); longest >= shortestText && fits(shortest); longest = halfOf(longest)) {
    const cut = cutTexts(value, longest);
    if (fits(cut)) return cutTo(cut);
  }
  if (fits(shortest)) return cutTo(shortest);
  for (let longest = mostEntries; longest >= 1; longest = halfOf(longest)) {
    const cut = cutLists(shortest, longest);
    if (fits(cut)) return cutTo(cut);
  }
  const text = cutText(JSON.stringify(value), Math.floor(most * 0.6));
  return { value: { cut: text }, leftOut: Math.max(0, whole - sentBytes(text, Number.POSITIVE_INFINITY)) };
}

const halfOf = (count: number): number => Math.floor(count / 2);
const shortestText = 80;
const mostEntries = 512;

/** A result is JSON text, and the request quotes the text once more. Counts no further than `most`. */
export function sentBytes(value: Json, most: number): number {
  let bytes = 0;
  const text = JSON.stringify(value);
  for (let at = 0; at < text.length && bytes <= most; at++) bytes += quoted(text.charCodeAt(at));
  return bytes;
}

/** Bytes of a UTF-16 unit of a text in JSON. A pair of surrogates has 4. */
function quoted(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x20) return 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) return 2;
  return 3;
}

/** The same where the text is quoted twice. */
function quotedTwice(unit: number): number {
  if (unit === 0x22 || unit === 0x5c) return 4;
  if (unit === 0x0a || unit === 0x0d || unit === 0x09) return 3;
  if (unit < 0x20) return 7;
  return quoted(unit);
}

function cutTexts(value: Json, longest: number): Json {
  if (typeof value === 'string') return cutText(value, longest);
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTexts(one, longest)]));
}

function cutLists(value: Json, longest: number): Json {
  if (Array.isArray(value)) return value.slice(0, longest).map((one) => cutLists(one, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, longest)
      .map(([name, one]) => [name, cutLists(one, longest)]),
  );
}

/** Keeps both ends of a text of more than `most` bytes, and names the number of characters left out. Never keeps half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most / 7) return text;
  const head = endOf(text, most / 2, 1);
  if (head >= text.length) return text;
  const rest = endOf(text, most / 2, -1);
  if (head + rest >= text.length) return text;
  const [first, last] = [text.slice(0, head), text.slice(text.length - rest)];
  return `${whole(first)}…[${text.length - head - rest} characters are left out here]…${whole(last)}`;
}

/** How many units from this end take at most `most` bytes. */
function endOf(text: string, most: number, step: 1 | -1): number {
  let bytes = 0;
  for (let count = 0; count < text.length; count++) {
    bytes += quotedTwice(text.charCodeAt(step === 1 ? count : text.length - 1 - count));
    if (bytes > most) return count;
  }
  return text.length;
}

/** Removes half a surrogate pair at either end of a text. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
