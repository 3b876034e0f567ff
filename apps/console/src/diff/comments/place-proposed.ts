import type { PatchLine } from '../patch-lines.ts';
import type { Draft } from './drafts.ts';

/**
 * The line of a patch for a draft on a held call: the nearest line with the same text. Undefined: the patch lacks the text, because the call
 * was asked again on other files.
 */
export function placeProposed(lines: readonly PatchLine[], { path, side, line, quote }: Draft): PatchLine | undefined {
  const same = lines.filter((each) => each.path === path && each[side] !== undefined && each.text.slice(1) === quote);
  const distance = (each: PatchLine): number => Math.abs((each[side] ?? 0) - line);
  return same.toSorted((one, other) => distance(one) - distance(other))[0];
}
