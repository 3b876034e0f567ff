import type { PastTurn } from '@holdpoint/engine/worker';
import { type Budget, parts } from './budget.ts';

export interface Shortenable {
  /** Those that no summary stands for, oldest first. */
  turns: readonly PastTurn[];
  /** Bytes that the results of a turn may take now. */
  capOf: (turn: PastTurn) => number;
  /** Tokens of a turn whose results may take so many bytes. */
  tokensAt: (turn: PastTurn, cap: number) => number;
  /** Tokens of everything else in the request. */
  fixed: number;
  /** Tokens that one request for a summary may be about. */
  budget: Budget;
}

export type PlannedCompaction =
  | { how: 'results_cut'; through: number; cap: number; tokens: number }
  | { how: 'summarised'; turns: readonly PastTurn[] };

/** Bytes that an old result keeps: enough to see what the call did. */
const oldCap = 800;
/** For results of the last turns, one after the other, until it fits. */
const recentCaps = [48 * 1024, 16 * 1024, 4096, oldCap];

/**
 * How a request becomes shorter: old results are cut, then older turns are summarised, then results of the last turns are cut, then all turns
 * are summarised. Undefined when nothing is left of that. Pure.
 */
export function planCompaction(input: Shortenable): PlannedCompaction | undefined {
  const { turns, budget } = input;
  const aim = budget.request * parts.aim;
  const older = turns.slice(0, firstRecent(input));
  const cutOlder = cut(input, older, oldCap);
  if (cutOlder !== undefined && cutOlder.tokens <= aim) return cutOlder;
  if (older.length > 0 && isWorthIt(input, older)) return { how: 'summarised', turns: piece(input, older) };
  const cuts = recentCaps.map((cap) => cut(input, turns, cap)).filter((one) => one !== undefined);
  const enough = cuts.find(({ tokens }) => tokens <= aim);
  if (enough !== undefined) return enough;
  if (turns.length > 0 && isWorthIt(input, turns)) return { how: 'summarised', turns: piece(input, turns) };
  return cuts.at(-1);
}

/** The index of the first of the last turns, which stay whole where they can. */
function firstRecent({ turns, capOf, tokensAt, budget }: Shortenable): number {
  let left = budget.request * parts.recent;
  let first = turns.length;
  while (first > 0) {
    const turn = turns[first - 1];
    if (turn === undefined) break;
    left -= tokensAt(turn, capOf(turn));
    if (left < 0 && first < turns.length) break;
    first -= 1;
    if (left < 0) break;
  }
  return first;
}

/** Undefined when it makes nothing shorter. */
function cut(
  { turns, capOf, tokensAt, fixed }: Shortenable,
  some: readonly PastTurn[],
  cap: number,
): (PlannedCompaction & { how: 'results_cut' }) | undefined {
  const through = some.at(-1)?.turn ?? 0;
  let [before, after] = [fixed, fixed];
  for (const turn of turns) {
    const now = capOf(turn);
    before += tokensAt(turn, now);
    after += tokensAt(turn, turn.turn <= through ? Math.min(now, cap) : now);
  }
  return after < before ? { how: 'results_cut', through, cap, tokens: after } : undefined;
}

/** Tokens that a summary may have. */
export const longestSummary = ({ request }: Budget): number => Math.min(4000, Math.floor(request / 8));

/** A summary of little would be longer than what it stands for. */
const isWorthIt = ({ tokensAt, budget }: Shortenable, turns: readonly PastTurn[]): boolean =>
  turns.reduce((sum, turn) => sum + tokensAt(turn, oldCap), 0) > longestSummary(budget) / 2;

/** The first of the turns that one request can be about; at least one. */
function piece({ tokensAt, budget }: Shortenable, turns: readonly PastTurn[]): readonly PastTurn[] {
  let left = budget.request * parts.aim;
  const last = turns.findIndex((turn) => {
    left -= tokensAt(turn, oldCap);
    return left < 0;
  });
  return last === -1 ? turns : turns.slice(0, Math.max(1, last));
}
