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

/** The conversation does not fit, and no part can be cut. The run pauses. */
export class ContextFullError extends Error {
  override name = 'ContextFullError';
  readonly code = 'context_full';
  readonly retryable = false;
  readonly next =
    'Fork the run with a model that has a larger window, or submit the task with a shorter prompt and shorter instructions.';

  constructor(cause: Error, { model, window }: { model: string; window: number }) {
    super(
      `The task, its instructions and what people said do not fit into the ${window} tokens that ${model} reads, and nothing else is left to cut.`,
      { cause },
    );
  }
}
