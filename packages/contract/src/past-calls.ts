import type { SettledCall } from './settled-call.ts';

/** An earlier call of the run, or of the run's past before its fork. */
export interface PastCall extends Pick<SettledCall, 'tool' | 'args' | 'edited' | 'status' | 'value' | 'error'> {
  step_id: string;
  /** ISO 8601. null: the call never began. */
  started_at: string | null;
}

/** The calls of a run before the present call, from the run's log. Undone calls are left out. */
export interface PastCalls {
  /** The last settled call of one of these tools. @param options.begun only calls that began. @default false */
  last(tools: readonly string[], options?: { begun?: boolean }): Promise<PastCall | undefined>;
  /** Whether a call with exactly these arguments ended with this error code. */
  had(call: { tool: string; args: unknown }, code: string): Promise<boolean>;
  /** Finds calls, answers of the model and messages of people that have every word, the latest first. Letters count in any case. */
  search(words: readonly string[], options: { limit: number }): Promise<PastFound>;
}

/** A call, an answer or a message of the run's past with the searched words. */
export interface PastHit {
  turn: number;
  kind: 'call' | 'answer' | 'message';
  /** The call's tool. */
  tool?: string;
  /** How the call ended. */
  status?: SettledCall['status'];
  /** Who wrote the message. */
  by?: string;
  /** Lines around the first of the words. */
  text: string;
}

export interface PastFound {
  hits: PastHit[];
  /** The first turn that was searched; absent when all were. */
  searched_from?: number;
}
