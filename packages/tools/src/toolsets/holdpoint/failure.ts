import type { ToolOutcome } from '@holdpoint/contract';

export type Failure = Extract<ToolOutcome, { status: 'failed' | 'timed_out' | 'killed' }>;

/** A failed outcome. @param next what the planner should do about it */
export function failure(code: string, message: string, next: string, value?: unknown): Failure {
  return { status: 'failed', error: { code, message, next }, ...(value === undefined ? {} : { value }) };
}
