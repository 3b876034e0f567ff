import type { ToolOutcome } from '@holdpoint/contract';

export type Failure = Extract<ToolOutcome, { status: 'failed' | 'timed_out' | 'killed' }>;

/** @param next what the planner should do */
export function failure(code: string, message: string, next: string, value?: unknown): Failure {
  return { status: 'failed', error: { code, message, next }, value };
}
