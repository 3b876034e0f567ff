import type { SettledCall } from './settled-call.ts';

/** An earlier call of the run, or of the past that it was forked from. */
export interface PastCall extends Pick<SettledCall, 'tool' | 'args' | 'edited' | 'status' | 'value' | 'error'> {
  step_id: string;
  /** ISO 8601. null: it never began. */
  started_at: string | null;
}

/** What the run had done when a call was made, from its log. Calls that were undone are no part of it. */
export interface PastCalls {
  /** The last settled call of one of these tools. @param options.begun only one that began. @default false */
  last(tools: readonly string[], options?: { begun?: boolean }): Promise<PastCall | undefined>;
  /** Whether a call with exactly these arguments ended with that error code. */
  had(call: { tool: string; args: unknown }, code: string): Promise<boolean>;
}
