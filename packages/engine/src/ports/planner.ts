import type { Json, ModelAnswered, ModelUsage, Problem, RunSpec, SecretScope, StepStatus } from '@holdpoint/contract';

/** A call that a planner wants made. With `error`, the step settles with it and nothing runs. */
export interface PlannedCall {
  /** @default a new one */
  step_id?: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Json;
  error?: Problem;
}

export type PlannerDecision = { message: string; answer?: Json; usage?: ModelUsage; answered?: ModelAnswered } & (
  | { kind: 'calls'; calls: PlannedCall[]; concurrent?: boolean | undefined }
  | { kind: 'finish' }
  | { kind: 'give_up'; reason: Problem }
);

/** A decision that let a call run. */
export interface RunDecision {
  decision: 'approve' | 'edit';
  /** With edit: the arguments that ran. Those of the step are the ones that were asked for. */
  args?: Json;
  message?: string;
  /** An earlier attempt may have taken effect, and it ran again. */
  isIndeterminate: boolean;
}

export interface SettledStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Json;
  status: StepStatus;
  value?: Json;
  error?: Problem;
  /** The result by the toolset's contract; of a named step and in the history, once it is settled. */
  native?: Json | undefined;
  /** In the history: what people decided about it, in order. */
  decided?: RunDecision[];
}

/** One past turn, as a planner reads it back. */
export interface PastTurn {
  turn: number;
  message: string;
  answer?: Json;
  steps: SettledStep[];
  /** What the calls of the answer come to that are no steps. */
  refused?: Problem;
  /** What people wrote to the run before this turn was planned, and after the one before. */
  readMessages: string[];
  /** When it was planned. ISO 8601. */
  at: string;
}

export interface PlannerInput {
  runId: string;
  spec: RunSpec;
  /** The number of the turn to plan, from 1. */
  turn: number;
  /** The outcome of a settled step by its name; undefined when there is none. */
  named(name: string): Promise<SettledStep | undefined>;
  /** The steps of the turn before; empty before the first. */
  previous(): Promise<SettledStep[]>;
  /** The whole history, oldest first: grows with the run. `unread`: messages that no turn has answered yet. */
  history(): Promise<{ turns: PastTurn[]; unread: string[] }>;
  /** The run is a sub-agent: no person answers questions. */
  unattended: boolean;
  scope: SecretScope;
}

/** Decides the next turn. An exception is an infrastructure error: retried by the queue, and when that is exhausted the run pauses. */
export interface Planner {
  next(input: PlannerInput, signal: AbortSignal): Promise<PlannerDecision>;
}

/** An infrastructure error may say whether and when a retry makes sense. */
export interface RetryHints {
  code?: string;
  retryable?: boolean;
  retryAfterMs?: number;
  next?: string;
}
