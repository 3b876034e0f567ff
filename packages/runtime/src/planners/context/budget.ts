import type { PastCompaction, PlannerInput } from '@holdpoint/engine/worker';
import type { ModelFacts } from '@holdpoint/models';

/** What a request may take of the window of a model. All in tokens. */
export interface Budget {
  /** undefined: not known. */
  window: number | undefined;
  /** What a request may have; infinite where the window is not known. */
  request: number;
  /** What an answer may have, where that has to be said. */
  answer: number | undefined;
}

const usualAnswer = 8192;
/** Where a model may write more than this part of its window, its answers are limited to it. */
const largestAnswer = 1 / 3;

/** The window that a refusal showed counts before the one that is known of the model. */
export function budgetOf(
  { model, spec: { goal } }: Pick<PlannerInput, 'model' | 'spec'>,
  facts: ModelFacts,
  compactions: readonly PastCompaction[],
): Budget {
  const asked = goal.planner === 'model' ? goal.options?.max_output_tokens : undefined;
  const learned = compactions.findLast((one) => one.learned?.model === model)?.learned?.window;
  const window = learned ?? facts.window;
  if (window === undefined) return { window, request: Number.POSITIVE_INFINITY, answer: asked };
  const wanted = asked ?? facts.maxOutput ?? usualAnswer;
  const answer = Math.min(wanted, Math.floor(window * largestAnswer));
  return { window, request: window - answer, answer: answer < wanted ? answer : asked };
}

/** Parts of what a request may have. Above `full` it is shortened to `aim`; the last turns, as far as `recent` reaches, stay whole. */
export const parts = { full: 0.8, aim: 0.5, recent: 0.25 };
