import type { Problem } from '@holdpoint/contract';
import type { RetryHints } from '../ports/index.ts';

/** Reads an exception of an adapter as a problem. An error that says nothing of itself may be retried. */
export function readError(error: unknown): { problem: Problem; retryable: boolean; retryAfterMs?: number } {
  const hints = (typeof error === 'object' && error !== null ? error : {}) as RetryHints;
  const code = typeof hints.code === 'string' ? hints.code : 'EINFRASTRUCTURE';
  const next = typeof hints.next === 'string' ? hints.next : undefined;
  return {
    problem: { code, message: error instanceof Error ? error.message : String(error), next },
    retryable: hints.retryable !== false,
    retryAfterMs: typeof hints.retryAfterMs === 'number' ? hints.retryAfterMs : undefined,
  };
}
