import type { PastTurn, PlannerDecision } from '@holdpoint/engine/worker';
import { type TextWork, TextWorkError } from '@holdpoint/tools';
import { mayAskAgain } from './read-answer.ts';

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
