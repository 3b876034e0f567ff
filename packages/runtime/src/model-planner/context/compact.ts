import type { ModelUsage } from '@holdpoint/contract';
import type { PastConversation, PastTurn, PlannerInput, WrittenCompaction } from '@holdpoint/engine/worker';
import { type Model, type ModelAnswer, type ModelMessage, type Sight, tokensOf } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import { freshCap } from '../conversation.ts';
import { type Budget, parts } from './budget.ts';
import type { BuiltRequest } from './build-request.ts';
import { readRecentFiles } from './recent-files.ts';
import { areTooMany, SummariesFailedError } from './refused.ts';
import { summarise, type TurnRequest } from './summarise.ts';
import { addVerbatim, countVerbatim, readTreeState, summaryText } from './verbatim.ts';

interface Summarising {
  request: Pick<BuiltRequest, 'through' | 'scale'>;
  turns: readonly PastTurn[];
  budget: Pick<Budget, 'request'>;
}

/** Most bytes of each result. The first is what a turn's request has, so its beginning is in the provider's cache. */
const caps = [freshCap, 48 * 1024, 16 * 1024, 4096, 800];
/** The question and its answer need place, and the estimate may be wrong. */
const fullest = 0.85;
/** More requests that are refused for their length cost more than a shorter one loses. */
const mostTried = 2;

/**
 * The conversation through these turns, with as much of each result as fits; and with less, should the provider refuse it. Results that
 * were cut in requests for turns are whole again: the log has them.
 */
function conversationsFor({ request, turns, budget }: Summarising): ModelMessage[][] {
  const fitting = caps
    .map((cap) => request.through(turns, cap))
    .filter(({ tokens }) => tokens * request.scale <= budget.request * fullest);
  const different = fitting.filter(({ tokens }, at) => tokens !== fitting[at - 1]?.tokens);
  return different.slice(0, mostTried).map(({ messages }) => messages);
}

interface Shortenable {
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

type PlannedCompaction =
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
function planCompaction(input: Shortenable): PlannedCompaction | undefined {
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
const longestSummary = ({ request }: Budget): number => Math.min(4000, Math.floor(request / 8));

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

interface Deps {
  model: Model;
  registry: Registry;
  workspaces: Pick<Workspaces, 'diffStat' | 'read'>;
  redactor: Redactor;
  usageOf: (answer: Pick<ModelAnswer, 'model' | 'usage'>) => ModelUsage;
  now: () => number;
}

interface Compacting {
  input: PlannerInput;
  history: PastConversation;
  request: BuiltRequest;
  budget: Budget;
  /** As a request for a turn. */
  like: TurnRequest;
  sight: Sight;
  hasOther: boolean;
  /** The window learned from a refusal. */
  learned?: WrittenCompaction['learned'];
  signal: AbortSignal;
}

/** Makes the next compaction of a request; undefined when nothing is left to cut. */
export async function compact(deps: Deps, compacting: Compacting): Promise<WrittenCompaction | undefined> {
  const { history, request, budget, learned } = compacting;
  const { scale } = request;
  const planned = planCompaction({
    turns: history.turns,
    capOf: request.capOf,
    tokensAt: (turn, cap) => request.tokensAt(turn, cap) * scale,
    fixed: request.fixed * scale,
    budget,
  });
  if (planned === undefined) return undefined;
  const facts = { tokens_before: Math.ceil(request.tokens * scale), window: budget.window, learned, scale };
  if (planned.how === 'summarised') return { ...facts, ...(await summarised(deps, compacting, planned.turns)) };
  const { through, cap, tokens } = planned;
  return { ...facts, how: 'results_cut', through_turn: through, cap, kept: {}, tokens_after: Math.ceil(tokens) };
}

async function summarised(
  { model, registry, workspaces, redactor, usageOf, now }: Deps,
  { input, history, request, budget, like, sight, hasOther, signal }: Compacting,
  turns: readonly PastConversation['turns'][number][],
): Promise<Omit<WrittenCompaction, 'tokens_before'>> {
  const { spec } = input;
  const began_at = new Date(now()).toISOString();
  const { text, answer, failed } = await summarise(model, {
    ...{ model: input.model, prompt: spec.goal.planner === 'model' ? spec.goal.prompt : '', before: request.summary },
    ...{ turns, request: budget.request, longest: longestSummary(budget), signal },
    ...{ like, conversations: conversationsFor({ request, turns, budget }), redacted: redactor },
    images: { sight, read: input.readContent },
    ...{ hasOther, usageOf },
  });
  if (failed !== undefined && areTooMany(history.compactions)) {
    // The run pauses, so no compaction has the tokens of this answer.
    if (answer !== undefined) {
      await input.recordUsed({ model: input.model, why: 'summary_failed', usage: usageOf(answer), estimated: [] });
    }
    throw new SummariesFailedError(redactor.json(failed), input.model);
  }
  const summary = redactor.text(text);
  const tree = await readTreeState(workspaces, input);
  const kept = addVerbatim(registry, spec.toolset, request.carried, turns);
  const through_turn = turns.at(-1)?.turn ?? 0;
  const left = history.turns.filter(({ turn }) => turn > through_turn);
  const contents = await readRecentFiles({ workspaces, registry }, input, { turns, staying: left, budget });
  const carried = redactor.json({ ...kept, ...(tree && { tree }), ...(contents.length > 0 && { contents }) });
  const standIn = tokensOf(summaryText(through_turn, carried, summary));
  const tokens = left.reduce((sum, turn) => sum + request.tokensAt(turn, request.capOf(turn)), request.fixed + standIn);
  return {
    ...{ how: 'summarised', through_turn, summary, carried, kept: countVerbatim(carried), began_at },
    tokens_after: Math.ceil(tokens * request.scale),
    ...(failed && { failed: redactor.json(failed) }),
    ...(answer && {
      model: input.model,
      usage: usageOf(answer),
      answered: { ...answer.answered, finish_reason: answer.finish },
    }),
  };
}
