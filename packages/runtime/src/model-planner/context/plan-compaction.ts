import type { PastTurn } from '@holdpoint/engine/worker';
import { freshCap } from '../conversation.ts';
import { type Budget, parts } from './budget.ts';

export interface Shortenable {
  /** Turns not replaced by a summary, oldest first. */
  turns: readonly PastTurn[];
  /** The present cap on each result of a turn, in bytes. */
  capOf: (turn: PastTurn) => number;
  /** Tokens of a turn with each result cut to `cap` bytes. */
  tokensAt: (turn: PastTurn, cap: number) => number;
  /** Tokens of everything else in the request. */
  fixed: number;
  /** Tokens of a request, for a turn or for a summary. */
  budget: Budget;
}

export type PlannedCompaction =
  | { how: 'results_cut'; through: number; cap: number; tokens: number }
  | { how: 'summarised'; turns: readonly PastTurn[] };

/** Bytes kept of an old result: enough to see the effect of the call. */
const oldCap = 800;
/** Caps on results of the last turns, tried one after the other until the request fits. */
const recentCaps = [48 * 1024, 16 * 1024, 4096, oldCap];

/**
 * Plans how to shorten a request: older turns with whole results are summarised, because their request is in the provider's cache. Else old
 * results are cut, then older turns are summarised, then results of the last turns are cut, then all
 * turns are summarised. Undefined when no way to shorten the request is left. Pure.
 */
export function planCompaction(input: Shortenable): PlannedCompaction | undefined {
  const { turns, budget } = input;
  const aim = budget.request * parts.aim;
  const older = turns.slice(0, firstRecent(input));
  if (isCheap(input, older)) return { how: 'summarised', turns: older };
  const cutOlder = cut(input, older, oldCap);
  if (cutOlder !== undefined && cutOlder.tokens <= aim) return cutOlder;
  if (older.length > 0 && isWorthIt(input, older)) return { how: 'summarised', turns: piece(input, older) };
  const cuts = recentCaps.map((cap) => cut(input, turns, cap)).filter((one) => one !== undefined);
  const enough = cuts.find(({ tokens }) => tokens <= aim);
  if (enough !== undefined) return enough;
  if (turns.length > 0 && isWorthIt(input, turns)) return { how: 'summarised', turns: piece(input, turns) };
  return cuts.at(-1);
}

/** True when one request with whole results summarises these turns, and frees at least a fifth of a request. */
function isCheap({ capOf, tokensAt, fixed, budget }: Shortenable, older: readonly PastTurn[]): boolean {
  if (older.length === 0 || !Number.isFinite(budget.request) || older.some((turn) => capOf(turn) < freshCap))
    return false;
  const tokens = older.reduce((sum, turn) => sum + tokensAt(turn, freshCap), 0);
  return tokens >= budget.request * leastFreed && fixed + tokens <= budget.request * parts.full;
}
const leastFreed = 0.2;

/** Index of the first recent turn. Recent turns stay whole where possible. */
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

/** Undefined when the cap makes nothing shorter. */
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

/** Most tokens of a summary. */
export const longestSummary = ({ request }: Budget): number => Math.min(4000, Math.floor(request / 8));

/** A summary of short turns would be longer than the turns. */
const isWorthIt = ({ tokensAt, budget }: Shortenable, turns: readonly PastTurn[]): boolean =>
  turns.reduce((sum, turn) => sum + tokensAt(turn, oldCap), 0) > longestSummary(budget) / 2;

/** The first turns, as many as fit into the request for a summary; at least the first. */
function piece({ tokensAt, budget }: Shortenable, turns: readonly PastTurn[]): readonly PastTurn[] {
  let left = budget.request * parts.aim;
  const last = turns.findIndex((turn) => {
    left -= tokensAt(turn, oldCap);
    return left < 0;
  });
  return last === -1 ? turns : turns.slice(0, Math.max(1, last));
}
