import type { PastCompaction, PlannerInput } from '@holdpoint/engine/worker';
import type { ModelFacts } from '@holdpoint/models';

/** Shares of a model's window, in tokens. */
export interface Budget {
  /** undefined: not known. */
  window: number | undefined;
  /** Most tokens of a request; infinite where the window is not known. */
  request: number;
  /** Most tokens of an answer; undefined: the request names no limit. */
  answer: number | undefined;
}

const usualAnswer = 8192;
/** Largest part of a window for an answer. Models able to write more are limited to this part. */
const largestAnswer = 1 / 3;

/** A window learned from a refusal takes precedence over the window in the facts about the model. */
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

/** Parts of the tokens allowed in a request. A request above `full` is shortened to `aim`; the last turns, up to `recent`, stay whole. */
export const parts = { full: 0.8, aim: 0.5, recent: 0.25 };
