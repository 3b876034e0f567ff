import type { PastConversation, PastTurn, PlannerDecision, PlannerInput } from '@holdpoint/engine/worker';
import type { Model, ModelMessage, ModelTool, Sight } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import { type TextThreads, type TextWork, TextWorkError } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/generate-text.ts';
import { liveAnswer } from '../live/live-answer.ts';
import type { Live } from '../live/live-hub.ts';
import { WithheldError } from './after-failure.ts';
import type { Budget } from './context/budget.ts';
import type { BuiltRequest } from './context/build-request.ts';
import { askWithImages } from './images.ts';
import { tellOfOpenTasks } from './open-tasks.ts';
import { mayAskAgain, readAnswer } from './read-answer.ts';

type Schema = Record<string, unknown>;

/** Instructions for the model about the form of its final answer. */
export const outputText = (schema: Schema): string =>
  [
    'Your final answer, the one without a call, must be one JSON value that fits this JSON Schema, and nothing else:',
    JSON.stringify(schema),
  ].join('\n');

/** Reads the final answer as a value. When the answer does not fit the schema, the model is asked again, with the errors. */
export async function readFinalOutput(
  decision: PlannerDecision,
  { schema, past, texts }: { schema: Schema; past: readonly PastTurn[]; texts: TextWork },
): Promise<PlannerDecision> {
  if (decision.kind !== 'finish') return decision;
  const { kind: _, output: __, ...said } = decision;
  const checked = await texts.run('output', { text: decision.message, schema }).catch((error: unknown) => {
    if (error instanceof TextWorkError) return error;
    throw error;
  });
  if (checked instanceof TextWorkError) {
    const message = `The model's final answer could not be compared with the output_schema of the run: ${checked.message}`;
    const next = 'Read the answer as it is, or fork the run with a simpler output_schema.';
    const note = {
      code: 'output_invalid',
      text: 'Your final answer could not be compared with its schema. Make it simpler.',
    } as const;
    return { ...said, kind: 'pause', note, reason: { code: 'EOUTPUTINVALID', message, next } };
  }
  if (checked.ok) return { ...decision, output: checked.value };
  const text = [
    'Your final answer does not have the form that was asked for:',
    ...checked.errors.map((error) => `- ${error}`),
    'Answer once more with one JSON value that fits the schema, and nothing else.',
  ].join('\n');
  const note = { code: 'output_invalid', text } as const;
  if (mayAskAgain(past, note.code)) return { ...said, kind: 'again', note };
  const message = `The model's final answer does not fit the output_schema of the run: ${checked.errors[0] ?? ''}`;
  const next = 'Send a message that says what is missing and resume the run, or resume it with another model.';
  return { ...said, kind: 'pause', note, reason: { code: 'EOUTPUTINVALID', message, next } };
}

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
