import type { PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import type { Model, ModelTool } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';
import { liveAnswer } from '../live/live-answer.ts';
import type { Live } from '../live/live-hub.ts';
import type { Budget } from './context/budget.ts';
import type { BuiltRequest } from './context/build-request.ts';
import { readAnswer } from './read-answer.ts';

export interface AskingDeps {
  model: Model;
  prices: ModelPrices;
  live: Live;
}

interface Asking {
  request: Pick<BuiltRequest, 'messages'>;
  system: string;
  tools: readonly ModelTool[];
  budget: Pick<Budget, 'answer'>;
  redactor: Redactor;
  signal: AbortSignal;
}

/** One request to the model of a run, and what its answer decides. @throws ModelError */
export async function askModel(
  { model, prices, live }: AskingDeps,
  input: PlannerInput,
  { request, system, tools, budget, redactor, signal }: Asking,
): Promise<PlannerDecision> {
  const { goal } = input.spec;
  const options = goal.planner === 'model' ? goal.options : undefined;
  using shown = liveAnswer(live, redactor, { runId: input.runId, turn: input.turn, model: input.model });
  const given = await model.generate({
    model: input.model,
    system: redactor.text(system),
    messages: redactor.json(request.messages),
    tools,
    maxOutputTokens: budget.answer,
    temperature: options?.temperature,
    reasoningEffort: options?.reasoning_effort,
    cacheKey: input.runId,
    signal,
    onDelta: shown.onDelta,
  });
  const { answered: by, ...answer } = redactor.json(given);
  const answered = { ...by, finish_reason: answer.finish };
  return readAnswer({ answer, given, usage: usageOf(answer, prices), answered });
}
