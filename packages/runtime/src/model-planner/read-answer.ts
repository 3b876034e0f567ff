import type { ModelAnswered, ModelUsage, TurnNote } from '@holdpoint/contract';
import type { PastTurn, PlannedCall, PlannerDecision } from '@holdpoint/engine/worker';
import type { ModelAnswer, ModelToolCall } from '@holdpoint/models';

interface Read {
  /** The answer as recorded: without the values of secrets. */
  answer: Omit<ModelAnswer, 'answered'>;
  /** The answer as given by the model. */
  given: ModelAnswer;
  usage: ModelUsage;
  answered: ModelAnswered;
  /** The turns before. */
  past: readonly PastTurn[];
  /** A message of a person is not answered yet. */
  hasNews: boolean;
}

/** How often in a row the model is asked again for the same reason. Then the run pauses; a resume grants as many again. */
const mostInARow = { cut_off: 5, empty: 2, withheld: 1, output_invalid: 4 };

/** Reads the planner's decision from an answer of a model. */
export function readAnswer({ answer, given, usage, answered, past, hasNews }: Read): PlannerDecision {
  const said = { message: answer.text, answer, usage, answered };
  const again = (note: TurnNote, reason: { code: string; message: string; next: string }): PlannerDecision =>
    mayAskAgain(hasNews ? [] : past, note.code)
      ? { kind: 'again', ...said, note }
      : { kind: 'pause', ...said, note, reason };
  if (answer.calls.length > 0) {
    const isCut = answer.finish === 'length';
    return { kind: 'calls', ...said, calls: answer.calls.map((call, at) => planned(call, given.calls[at], isCut)) };
  }
  const isEmpty = answer.text.trim() === '';
  if (answer.finish === 'length') return again(cutOff(isEmpty, answer.usage.output_tokens), tooLong);
  if (answer.finish === 'content_filter') return again(withheld, refused);
  const begun = textBefore(past);
  if (isEmpty && begun === '') return again(empty, noWords);
  return { kind: 'finish', ...said, message: begun + answer.text };
}

/** Whether the model may be asked again for this reason: less often in a row than allowed. */
export function mayAskAgain(past: readonly PastTurn[], code: keyof typeof mostInARow | 'open_tasks'): boolean {
  if (code === 'open_tasks') return true;
  return (inARow(past, code) + 1) % mostInARow[code] !== 0;
}

/** Number of the last turns with this note, back to the last message of a person. */
function inARow(past: readonly PastTurn[], code: TurnNote['code']): number {
  let count = 0;
  for (const turn of past.toReversed()) {
    if (turn.note?.code !== code) return count;
    count += 1;
    if (turn.readMessages.length > 0) return count;
  }
  return count;
}

/** The text of the cut-off answers before the present answer. */
function textBefore(past: readonly PastTurn[]): string {
  const cut = inARow(past, 'cut_off');
  return past
    .slice(past.length - cut)
    .map(({ message }) => message)
    .join('');
}

/** @param given the call before its secrets were replaced */
function planned(call: ModelToolCall, given: ModelToolCall | undefined, isCut: boolean): PlannedCall {
  const base = { call_id: call.id, tool: call.tool, args: call.args };
  if (JSON.stringify(call) !== JSON.stringify(given)) return { ...base, error: secretInArguments };
  if (call.invalid === undefined) return base;
  if (isCut) return { ...base, error: cutCall };
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

const cutCall = {
  code: 'ECUTOFF',
  message: 'Not run: your answer reached its output limit in the middle of this call.',
  next: 'Make the call again in smaller pieces: write the first part of a long text, then add the rest with further calls.',
};

const cutOff = (isEmpty: boolean, tokens: number): TurnNote => ({
  code: 'cut_off',
  text: isEmpty
    ? `Your answer reached its output limit${limitOf(tokens)} before it had a word or a call. Think less before you answer, and take a smaller step.`
    : `Your answer was cut off at its output limit${limitOf(tokens)}. Continue exactly where it stopped: repeat nothing, and add no introduction.`,
});

const limitOf = (tokens: number): string => (tokens > 0 ? ` (${tokens} tokens)` : '');

const empty: TurnNote = {
  code: 'empty',
  text: 'Your answer was empty. Call a tool to continue the task, or say in plain words what you did and how you checked it.',
};

const withheld: TurnNote = {
  code: 'withheld',
  text: 'Your provider withheld your answer. Continue the task in another way or in other words.',
};

const tooLong = {
  code: 'EMODELLENGTH',
  message: `The model's answers were cut off at their output limit ${mostInARow.cut_off} times in a row.`,
  next: 'Send a message that it should answer in smaller parts, or resume with another model; a fork may have a higher max_output_tokens.',
};

const noWords = {
  code: 'EMODELEMPTY',
  message: 'The model answered twice in a row without a word or a call.',
  next: 'Send a message that says what to do next and resume the run, or resume it with another model.',
};

const refused = {
  code: 'EMODELREFUSED',
  message: 'The provider withheld the answer.',
  next: 'Resume the run to have the model try another way, send a message first that leads it elsewhere, or resume with another model.',
};
