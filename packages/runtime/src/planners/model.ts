import { fixedTime, type RunSpec, type SecretScope } from '@holdpoint/contract';
import type { PastTurn, PlannedCall, Planner, SettledStep } from '@holdpoint/engine/worker';
import type { Model, ModelAnswer, ModelMessage, ModelToolCall } from '@holdpoint/models';
import type { Secrets } from '@holdpoint/secrets';
import type { Registry } from '@holdpoint/tools';
import { type ModelPrices, usageOf } from '../adapters/model-usage.ts';
import { redactErrors } from '../adapters/redact-executor.ts';
import { decisionNote } from './decision-note.ts';

interface Deps {
  model: Model;
  registry: Registry;
  secrets: Secrets;
  prices: ModelPrices;
}

/** A model decides the next turn from the goal and everything that happened so far. Its whole answer goes into the log with the turn. */
export function createModelPlanner({ model, registry, secrets, prices }: Deps): Planner {
  return {
    async next(input, signal) {
      const { goal, toolset } = input.spec;
      if (goal.planner !== 'model') throw new TypeError('the run has no prompt');
      const history = await input.history();
      const redactor = secrets.redactor(input.scope.tenant);
      const given = await redactErrors(redactor, () =>
        model.generate({
          model: goal.model,
          system: [systemPrompt, ...toolsetPrompt(registry, toolset), ...secretsPrompt(input.scope)].join('\n'),
          messages: redactor.json(conversation(goal.prompt, history, refusalsOf(registry, input.spec))),
          tools: registry
            .list(toolset, { unattended: input.unattended })
            .map(({ name, description, input_schema }) => ({
              name,
              description,
              parameters: input_schema,
            })),
          signal,
        }),
      );
      const { answered: by, ...answer } = redactor.json(given);
      const answered = { ...by, finish_reason: answer.finish };
      const said = { message: answer.text, answer, usage: usageOf(answer, prices), answered };
      if (answer.calls.length > 0)
        return { kind: 'calls', ...said, calls: answer.calls.map((call, at) => planned(call, given.calls[at])) };
      if (answer.finish === 'length' || answer.finish === 'content_filter')
        return { kind: 'give_up', ...said, reason: cutOff(answer) };
      return { kind: 'finish', ...said };
    },
  };
}

const systemPrompt = [
  'You work on a private copy of the user’s files. Nothing you change reaches the originals until a person has reviewed it.',
  'Use the tools to do the task; look before you change, and check what you changed (run the tests where there are any).',
  'The calls of one answer take effect in the order you write them: a call sees what the calls before it changed.',
  'A call may be held for a person’s approval: you simply get its result later. When a call was rejected or denied, do not repeat it as it was. A person may also change a call before it runs, or say something about it: its result then begins or ends with that.',
  'When the task is done, or cannot be done, answer in plain words without calling a tool: say what you changed and how you checked it.',
].join('\n');

/** The log as the conversation it was. */
function conversation(
  prompt: string,
  { turns, unread }: { turns: readonly PastTurn[]; unread: readonly string[] },
  refused: (turn: PastTurn) => ToolResult[],
): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'user', text: prompt }];
  for (const turn of turns) {
    messages.push(...turn.readMessages.map(fromPerson));
    messages.push({ role: 'assistant', answer: answerOf(turn) });
    const results = [...turn.steps.map(result), ...refused(turn)];
    if (results.length > 0) messages.push({ role: 'tool', results });
  }
  messages.push(...unread.map(fromPerson));
  return messages;
}

interface ToolResult {
  id: string;
  tool: string;
  text: string;
  is_error: boolean;
}

/** Every call of an answer needs a result, also the calls beyond the limit of a turn. They are no steps. */
const refusalsOf =
  (registry: Registry, { toolset, settings, modes }: RunSpec) =>
  (turn: PastTurn): ToolResult[] => {
    const { steps, refused: error, at } = turn;
    if (error === undefined) return [];
    const made = new Set(steps.map((step) => step.call_id));
    const left = answerOf(turn).calls.filter(({ id }) => !made.has(id));
    const when = modes.deterministic ? new Date(fixedTime).toISOString() : at;
    const times = { created_at: when, started_at: null, settled_at: when, queued_ms: 0, duration_ms: 0 };
    return left.map(({ id, tool, args }) => {
      const call = { tool, args, status: 'rejected' as const, error, times, settings, modes };
      return { id, tool, text: JSON.stringify(registry.present(toolset, call)), is_error: true };
    });
  };

/** The answer that this planner recorded with the turn. */
const answerOf = ({ answer }: PastTurn) => answer as ModelAnswer;

const fromPerson = (text: string): ModelMessage => ({ role: 'user', text });

function result(step: SettledStep): ToolResult {
  const is_error = step.status !== 'succeeded';
  const text = JSON.stringify(step.native ?? null);
  const note = decisionNote(step);
  // An error begins with what went wrong.
  const parts = is_error ? [text, note] : [note, text];
  return { id: step.call_id ?? step.id, tool: step.tool, text: parts.filter(Boolean).join('\n'), is_error };
}

/** @param given the call before its secrets were replaced */
function planned(call: ModelToolCall, given: ModelToolCall | undefined): PlannedCall {
  const base = { call_id: call.id, tool: call.tool, args: call.args };
  if (JSON.stringify(call) !== JSON.stringify(given)) return { ...base, error: secretInArguments };
  if (call.invalid === undefined) return base;
  const next = 'Write the arguments as one JSON object that fits the tool’s schema.';
  return {
    ...base,
    error: { code: 'EINVALIDARGS', message: `The arguments could not be read: ${call.invalid}`, next },
  };
}

const secretInArguments = {
  code: 'ESECRETINARGS',
  message: 'Not run: the arguments had the value of a secret in them.',
  next: 'Use the variable that holds the secret in a command; do not write its value.',
};

const toolsetPrompt = (registry: Registry, toolset: string): string[] => {
  const instructions = registry.instructions(toolset);
  return instructions === undefined ? [] : [instructions];
};

/** What a model has to know to use secrets that it never sees. */
function secretsPrompt({ secrets: uses }: SecretScope): string[] {
  const lines = uses.flatMap(({ name, as }) => {
    if ('env' in as) return [`the variable ${as.env} of every command holds the secret ${name}`];
    if ('header' in as) return [`requests to ${as.header.host} get the header ${as.header.name} by themselves`];
    return [`write $ENV.${name} where an argument needs the secret ${name}`];
  });
  if (lines.length === 0) return [];
  return [`Secrets: ${lines.join('; ')}. Their values are shown as [secret NAME], and must not be written to files.`];
}

const cutOff = (answer: ModelAnswer) => ({
  code: answer.finish === 'length' ? 'EMODELLENGTH' : 'EMODELREFUSED',
  message:
    answer.finish === 'length'
      ? `The model's answer reached its length limit before it was complete: ${answer.text.slice(0, 200)}`
      : 'The provider withheld the answer.',
  next: 'Submit the task again in smaller parts, or with another model.',
});
