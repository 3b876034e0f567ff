import type { Problem } from '@holdpoint/contract';
import type { PastCompaction } from '@holdpoint/engine/worker';
import type { ModelError } from '@holdpoint/models';
import type { BuiltRequest } from './build-request.ts';

/** The smallest window to believe: no request with tools fits into less, so a provider naming less means something else. */
const leastWindow = 1000;

/** Learns a window from a refusal for length: the window named by the provider, or three quarters of the refused request. */
export function learnFrom(
  { window: told }: Pick<ModelError, 'window'>,
  model: string,
  { tokens, scale }: Pick<BuiltRequest, 'tokens' | 'scale'>,
): { learned: { model: string; window: number }; scale: number } {
  const sent = tokens * scale;
  if (told === undefined || told < leastWindow) {
    return { learned: { model, window: Math.max(leastWindow, Math.floor(sent * 0.75)) }, scale };
  }
  // The refused request was longer than the window, whatever the estimate says.
  return { learned: { model, window: told }, scale: sent >= told ? scale : (told / tokens) * 1.02 };
}

/** Tokens of the parts of a request without turns. */
export interface SentTokens {
  tools: number;
  instructions: number;
  rest: number;
}

/** The conversation does not fit, and no part can be cut. The run pauses. */
export class ContextFullError extends Error {
  override name = 'ContextFullError';
  readonly code = 'context_full';
  readonly retryable = false;
  readonly next =
    'Fork the run with a model that has a larger window, or submit the task with a shorter prompt and shorter instructions.';

  constructor(cause: Error, { model, window }: { model: string; window: number }, sent: SentTokens) {
    const { tools, instructions, rest } = sent;
    super(
      `The tools (about ${tools} tokens), the instructions (${instructions}) and the task with what people said (${rest}) do not fit into the ${window} tokens that ${model} reads, and nothing else is left to cut.`,
      { cause },
    );
  }
}

/** Failed summaries in a row before a person is asked: a list of calls stands for each, so the model forgets what it found out. */
const mostFailed = 3;

/** Whether one more failed summary is the third in a row. */
export function areTooMany(compactions: readonly PastCompaction[]): boolean {
  const summaries = compactions.filter(({ how }) => how === 'summarised').slice(1 - mostFailed);
  return summaries.length === mostFailed - 1 && summaries.every((one) => one.failed !== undefined);
}

/** The model writes no summaries. The run pauses, and continues with a next try. */
export class SummariesFailedError extends Error {
  override name = 'SummariesFailedError';
  readonly code = 'summaries_failed';
  readonly retryable = false;
  readonly next =
    'Resume the run to try once more, or fork it with a model that has a larger window or no limit on what it writes.';

  constructor({ code, message }: Problem, model: string) {
    super(`${mostFailed} summaries in a row failed, the last of ${model} with ${code}: ${message}`);
  }
}
