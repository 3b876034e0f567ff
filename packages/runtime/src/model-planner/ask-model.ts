import type { PastConversation, PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import type { Model, ModelMessage, ModelTool, Sight } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import type { TextThreads } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';
import { liveAnswer } from '../live/live-answer.ts';
import type { Live } from '../live/live-hub.ts';
import type { Budget } from './context/budget.ts';
import type { BuiltRequest } from './context/build-request.ts';
import { readFinalOutput } from './final-output.ts';
import { askWithImages } from './images.ts';
import { tellOfOpenTasks } from './open-tasks.ts';
import { readAnswer } from './read-answer.ts';
import { WithheldError } from './withheld.ts';

export interface AskingDeps {
  model: Model;
  prices: ModelPrices;
  live: Live;
  texts: TextThreads;
}

interface Asking {
  history: Pick<PastConversation, 'turns' | 'unread'>;
  request: Pick<BuiltRequest, 'messages'>;
  system: string;
  tools: readonly ModelTool[];
  /** The names of the toolset's tools for tasks. */
  taskTools: { waits?: string | undefined; ends?: string | undefined };
  budget: Pick<Budget, 'answer'>;
  sight: Sight;
  redactor: Redactor;
  /** Set when another model is asked in place of the run's own model. */
  instead: true | undefined;
  /** Another model can be asked, so a withheld answer is a failure of this model. */
  hasOther: boolean;
  signal: AbortSignal;
}

/** Sends a request to the model of a run, and reads the planner's decision from the answer. @throws ModelError */
export async function askModel(
  { model, prices, live, texts }: AskingDeps,
  input: PlannerInput,
  { history, request, system, tools, taskTools, budget, sight, redactor, instead, hasOther, signal }: Asking,
): Promise<PlannerDecision> {
  const { goal } = input.spec;
  const options = goal.planner === 'model' ? goal.options : undefined;
  using shown = liveAnswer(live, redactor, { runId: input.runId, turn: input.turn, model: input.model });
  const ask = (messages: readonly ModelMessage[]) =>
    model.generate({
      model: input.model,
      system: redactor.text(system),
      messages,
      tools,
      maxOutputTokens: budget.answer,
      temperature: options?.temperature,
      reasoningEffort: options?.reasoning_effort,
      cacheKey: input.runId,
      signal,
      onDelta: shown.onDelta,
    });
  const given = await askWithImages(
    { messages: redactor.json(request.messages), model: input.model, sight, read: input.readContent },
    ask,
  );
  const { answered: by, ...answer } = redactor.json(given);
  const isWithheld = given.finish === 'content_filter' && given.calls.length === 0;
  if (isWithheld && hasOther) throw new WithheldError(input.model, usageOf(answer, prices));
  const answered = { ...by, asked: instead && input.model, finish_reason: answer.finish };
  const { turns: past, unread } = history;
  const hasNews = unread.length > 0;
  const decision = readAnswer({ answer, given, usage: usageOf(answer, prices), answered, past, hasNews });
  const tasks = decision.kind === 'finish' && input.openTasks > 0 ? await input.listOpenTasks() : [];
  const known = (tool: string | undefined) => tools.find(({ name }) => name === tool);
  const told = redactor.json(
    tellOfOpenTasks(decision, { tasks, past, tools: { waits: known(taskTools.waits), ends: known(taskTools.ends) } }),
  );
  const schema = goal.planner === 'model' ? goal.output_schema : undefined;
  if (schema === undefined) return told;
  return readFinalOutput(told, { schema, past: hasNews ? [] : past, texts: texts.of(input.runId, signal) });
}
