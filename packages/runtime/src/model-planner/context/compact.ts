import type { ModelUsage } from '@holdpoint/contract';
import type { PastConversation, PlannerInput, WrittenCompaction } from '@holdpoint/engine/worker';
import { type Model, type ModelAnswer, type Sight, tokensOf } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import type { Workspaces } from '@holdpoint/workspace';
import type { Budget } from './budget.ts';
import type { BuiltRequest } from './build-request.ts';
import { longestSummary, planCompaction } from './plan-compaction.ts';
import { conversationsFor } from './real-results.ts';
import { readRecentFiles } from './recent-files.ts';
import { areTooMany, SummariesFailedError } from './refused.ts';
import { summarise, type TurnRequest } from './summarise.ts';
import { readTreeState } from './tree-state.ts';
import { addVerbatim, countVerbatim, summaryText } from './verbatim.ts';

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
