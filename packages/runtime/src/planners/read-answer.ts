import type { ModelAnswered, ModelUsage } from '@holdpoint/contract';
import type { PlannedCall, PlannerDecision } from '@holdpoint/engine/worker';
import type { ModelAnswer, ModelToolCall } from '@holdpoint/models';

interface Read {
  /** As it is recorded: without the values of secrets. */
  answer: Omit<ModelAnswer, 'answered'>;
  /** As the model gave it. */
  given: ModelAnswer;
  usage: ModelUsage;
  answered: ModelAnswered;
}

/** What an answer of a model decides. */
export function readAnswer({ answer, given, usage, answered }: Read): PlannerDecision {
  const said = { message: answer.text, answer, usage, answered };
  if (answer.calls.length > 0)
    return { kind: 'calls', ...said, calls: answer.calls.map((call, at) => planned(call, given.calls[at])) };
  if (answer.finish === 'length' || answer.finish === 'content_filter')
    return { kind: 'give_up', ...said, reason: cutOff(answer) };
  return { kind: 'finish', ...said };
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

const cutOff = (answer: Pick<ModelAnswer, 'finish' | 'text'>) => ({
  code: answer.finish === 'length' ? 'EMODELLENGTH' : 'EMODELREFUSED',
  message:
    answer.finish === 'length'
      ? `The model's answer reached its length limit before it was complete: ${answer.text.slice(0, 200)}`
      : 'The provider withheld the answer.',
  next: 'Submit the task again in smaller parts, or with another model.',
});
