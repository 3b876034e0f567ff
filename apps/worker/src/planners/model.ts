import type { PastTurn, PlannedCall, Planner, SettledStep } from '@holdpoint/engine/ports';
import {
  type Model,
  type ModelAnswer,
  type ModelMessage,
  type ModelToolCall,
  modelAnswerSchema,
} from '@holdpoint/models/port';
import type { Registry } from '@holdpoint/tools/registry';

interface Deps {
  model: Model;
  registry: Registry;
}

/** A model decides the next turn from the task and everything that happened so far. Its whole answer goes into the log with the turn. */
export function createModelPlanner({ model, registry }: Deps): Planner {
  return {
    async next(input, signal) {
      const { task, toolset } = input.spec;
      if (task.planner !== 'model') throw new TypeError('the run has no prompt');
      const answer = await model.generate({
        model: task.model,
        system: systemPrompt,
        messages: conversation(task.prompt, await input.history()),
        tools: registry.list(toolset).map(({ name, description, input_schema }) => ({
          name,
          description,
          parameters: input_schema,
        })),
        signal,
      });
      if (answer.calls.length > 0) {
        return { kind: 'calls', message: answer.text, answer, calls: answer.calls.map(planned) };
      }
      if (answer.finish === 'length' || answer.finish === 'content_filter')
        return { kind: 'give_up', message: answer.text, reason: cutOff(answer), answer };
      return { kind: 'finish', message: answer.text, answer };
    },
  };
}

const systemPrompt = [
  'You work on a private copy of the user’s files. Nothing you change reaches the originals until a person has reviewed it.',
  'Use the tools to do the task; look before you change, and check what you changed (run the tests where there are any).',
  'A call may be held for a person’s approval: you simply get its result later. When a call was rejected or denied, do not repeat it as it was.',
  'When the task is done, or cannot be done, answer in plain words without calling a tool: say what you changed and how you checked it.',
].join('\n');

/** The log as the conversation it was. */
function conversation(prompt: string, turns: readonly PastTurn[]): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  for (const turn of turns) {
    messages.push({ role: 'assistant', answer: modelAnswerSchema.parse(turn.answer) });
    messages.push({ role: 'tool', results: turn.steps.map(result) });
  }
  return messages;
}

function result(step: SettledStep): { id: string; tool: string; text: string; is_error: boolean } {
  const is_error = step.status !== 'succeeded';
  const text = is_error
    ? JSON.stringify({
        status: step.status,
        error: step.error,
        ...(step.value === undefined ? {} : { value: step.value }),
      })
    : JSON.stringify(step.value ?? null);
  return { id: step.call_id ?? step.id, tool: step.tool, text, is_error };
}

function planned(call: ModelToolCall): PlannedCall {
  const base = { call_id: call.id, tool: call.tool, args: call.args };
  if (call.invalid === undefined) return base;
  const next = 'Write the arguments as one JSON object that fits the tool’s schema.';
  return {
    ...base,
    error: { code: 'EINVALIDARGS', message: `The arguments could not be read: ${call.invalid}`, next },
  };
}

const cutOff = (answer: ModelAnswer) => ({
  code: answer.finish === 'length' ? 'EMODELLENGTH' : 'EMODELREFUSED',
  message:
    answer.finish === 'length'
      ? `The model's answer reached its length limit before it was complete: ${answer.text.slice(0, 200)}`
      : 'The provider withheld the answer.',
  next: 'Submit the task again in smaller parts, or with another model.',
});
