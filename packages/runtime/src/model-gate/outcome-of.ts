import { ModelError } from '@holdpoint/models';
import type { Outcome } from './model-gate.ts';

/** Reads the state of the provider from the failure of a request. */
export function outcomeOf(error: unknown): Outcome {
  if (!isProviderAway(error)) return { kind: 'neutral' };
  const { code, message, next, retryAfterMs } = error;
  return { kind: 'limited', reason: { code, message, next }, retryAfterMs };
}

/** Whether the provider, and not this request, is the reason of a failure. */
function isProviderAway(error: unknown): error is ModelError {
  if (!(error instanceof ModelError)) return false;
  const { code, status } = error;
  if (code === 'EMODELRATELIMIT') return true;
  // An internal error may be about this request alone.
  return code === 'EMODELUNAVAILABLE' && (status === undefined || status > 501);
}
