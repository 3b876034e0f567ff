import { createHash } from 'node:crypto';
import { canonicalJson, type Problem, type Repetition } from '@holdpoint/contract';

/** The part of a settled step which shows progress. */
interface SettledCall {
  tool: string;
  args: unknown;
  status: string;
  value?: unknown;
  error?: unknown;
}

/** The repetition after another settled turn. */
export function trackRepetition(before: Repetition | undefined, steps: readonly SettledCall[]): Repetition | undefined {
  if (steps.length === 0) return before;
  const calls = steps.map(({ tool, args, status, value, error }) => ({ tool, args, status, value, error }));
  // Durations always differ.
  const text = JSON.stringify(calls, (key, value: unknown) => (key.endsWith('_ms') ? undefined : value));
  const digest = createHash('sha256')
    .update(canonicalJson(JSON.parse(text)))
    .digest('hex')
    .slice(0, 16);
  const failed = steps.every(({ status }) => status !== 'succeeded');
  return {
    digest,
    same: before?.digest === digest ? before.same + 1 : 1,
    failed: failed ? (before?.failed ?? 0) + 1 : 0,
  };
}

/** The problem of a model without progress. @param after turns in a row */
export function isLooping(repetition: Repetition | undefined, after: number): Problem | undefined {
  const next = 'Send it a message and resume it, undo its last steps, or cancel it.';
  if (repetition === undefined) return undefined;
  if (repetition.same >= after) {
    return {
      code: 'loop_repeated_calls',
      message: `The last ${repetition.same} turns made the same calls and had the same results.`,
      next,
    };
  }
  if (repetition.failed >= after) {
    return {
      code: 'loop_only_failures',
      message: `No call of the last ${repetition.failed} turns succeeded.`,
      next,
    };
  }
  return undefined;
}
