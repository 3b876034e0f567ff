import { findText } from './find-text.ts';

export interface FirstReplacement {
  data: Buffer;
  old_string: string;
  new_string: string;
}

/** `found`: the number of disjoint occurrences. `line`: the first line of the first occurrence. */
export type ReplacedFirst = { found: 0 } | { found: number; line: number; data: Buffer };

/** Replaces the first occurrence of a text byte for byte, and counts all. */
export function replaceFirst({ data, old_string, new_string }: FirstReplacement): ReplacedFirst {
  const wanted = Buffer.from(old_string);
  let found = 0;
  let first = 0;
  findText(data, wanted, { overlapping: false }, (offset) => {
    if (found === 0) first = offset;
    found += 1;
    return true;
  });
  if (found === 0) return { found: 0 };
  let line = 1;
  for (let at = 0; at < first; at++) if (data[at] === newline) line += 1;
  const parts = [data.subarray(0, first), Buffer.from(new_string), data.subarray(first + wanted.length)];
  return { found, line, data: Buffer.concat(parts) };
}

const newline = 0x0a;
