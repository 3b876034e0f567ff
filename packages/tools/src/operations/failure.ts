import type { ToolOutcome } from '@holdpoint/contract';

export type Failure = Extract<ToolOutcome, { status: 'failed' | 'timed_out' | 'killed' }>;

/** @param next the planner's next step */
export function failure(code: string, message: string, next: string, value?: unknown): Failure {
  return { status: 'failed', error: { code, message, next }, value };
}
