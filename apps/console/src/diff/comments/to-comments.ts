import type { LineComment } from '@holdpoint/contract/wire';
import type { Draft } from './drafts.ts';
import type { Placed } from './use-places.ts';

/** The most comments of one message. */
const mostComments = 200;

/** The drafts that have words, as the API takes them: at their present line, or as they were where the line is gone. */
export function toComments(placed: readonly Placed[], snapshots: { from: string; to: string }): LineComment[] {
  return written(placed).map(({ draft: { side, quote, text, ...before }, place }) => {
    const at = place.is === 'here' ? { ...place, snapshot: side === 'old' ? snapshots.from : snapshots.to } : before;
    const { path, line } = at;
    const snapshot = at.snapshot === '' ? undefined : at.snapshot;
    return { path, line, side, snapshot, text, quote: quote === '' ? undefined : quote.slice(0, 1000).toWellFormed() };
  });
}

/** As they were written, where no snapshot is in sight. */
export const asWritten = (drafts: readonly Draft[]): LineComment[] =>
  toComments(
    drafts.map((draft) => ({ draft, place: { is: 'unknown' } })),
    { from: '', to: '' },
  );

export const written = (placed: readonly Placed[]): Placed[] =>
  placed.filter(({ draft }) => draft.text.trim() !== '').slice(0, mostComments);
