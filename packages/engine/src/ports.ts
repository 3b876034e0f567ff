import type { EventOf } from './domain/events.ts';
import type { CommandLimits, Network, RunSpec, Validator } from './domain/run-spec.ts';
import type { PublishWish } from './domain/transitions/publication.ts';
import type { ValidatorResult } from './domain/validation.ts';
import type { Effect, Problem, Risk, StepStatus } from './domain/vocabulary.ts';

/** The engine's doors: what it needs of tools, workspaces and planners, and nothing more. The worker brings the real ones. */

/** One connection of a call, as the log tells it. */
export type Connection = Omit<EventOf<'network.connected'>['data'], 'attempt'>;

export interface Call {
  toolset: string;
  tool: string;
  args: unknown;
}

export type Description =
  | { ok: true; args: unknown; effect: Effect; risk: Risk; gate?: 'input' }
  | { ok: false; error: Problem };

/** Which tools there are and what a call of them would be. Pure: touches no workspace. */
export interface ToolCatalog {
  /** @param call.network whether the run's tools may reach anything outside: a command that can is an external effect */
  describe(call: Call & { network: boolean }): Description;
}

export type Outcome =
  | { status: 'succeeded'; value: unknown; touched?: readonly string[]; capabilities?: unknown }
  | {
      status: 'failed' | 'timed_out' | 'killed';
      error: Problem;
      value?: unknown;
      touched?: readonly string[];
      capabilities?: unknown;
    };

export interface ExecutionContext {
  runId: string;
  stepId: string;
  attempt: number;
  /** Milliseconds one command may take at most. */
  wallMs: number;
  /** The run's other bounds of one command. */
  limits: CommandLimits;
  network: Network;
  /** Told of every connection that the call made or was refused, when it ends. */
  onConnection(connection: Connection): void;
  signal: AbortSignal;
}

export interface Executor extends ToolCatalog {
  /** What a person should see before deciding; undefined when the call itself says it all. */
  preview(call: Call, context: { runId: string; signal: AbortSignal }): Promise<unknown>;
  /** Runs a call. Tool errors are outcomes; an exception is an infrastructure error, and the attempt is in doubt. */
  execute(call: Call, context: ExecutionContext): Promise<Outcome>;
  /** Runs a validator in the sandbox, on the workspace as it is, without a network. An exception is an infrastructure error. */
  validate(
    validator: Validator,
    context: Pick<ExecutionContext, 'runId' | 'limits' | 'signal'>,
  ): Promise<ValidatorResult>;
}

/** A workspace as it begins. */
export interface MadeWorkspace {
  snapshot: string;
  /** Where the change set is counted from. */
  base: string;
  base_commit: string | null;
  files: number;
  bytes: number;
  skipped: number;
  submodules: { path: string; commit: string }[];
}

interface Making {
  runId: string;
  onProgress(progress: { files: number; bytes: number }): void;
  signal: AbortSignal;
}

/** What a publish would do. `plan` is shown to people; the engine only hands it on. */
export interface PlannedPublish {
  /** The snapshot with what would be published. */
  candidate: string;
  digest: string;
  conflicts: { path: string; reason: string; detail: string; resolvable: boolean }[];
  plan: unknown;
}

export interface PublishCall {
  runId: string;
  snapshot: string;
  target: PublishWish;
  resolutions: unknown;
}

export interface WorkspacePort {
  materialise(input: Making & { source: unknown }): Promise<MadeWorkspace>;
  /** A workspace out of another run's snapshot. */
  fork(input: Making & { from: { runId: string; snapshot: string } }): Promise<MadeWorkspace>;
  /** @param input.paths the changed paths, when they are known; absent: look at the whole tree */
  snapshot(input: {
    runId: string;
    parent: string;
    message: string;
    paths?: readonly string[];
  }): Promise<{ snapshot: string; files_changed: number; skipped: number }>;
  /** Ends whatever an earlier attempt left running on the workspace. */
  quiesce(runId: string): Promise<void>;
  restore(input: { runId: string; snapshot: string }): Promise<void>;
  planPublish(call: PublishCall): Promise<PlannedPublish>;
  /** Does what the plan with that digest said. `moved`: the source is not as that plan saw it; nothing was changed. */
  publish(
    call: PublishCall & { expect: string },
  ): Promise<
    { status: 'published'; published: unknown } | { status: 'conflict'; conflicts: unknown } | { status: 'moved' }
  >;
  discard(runId: string): Promise<void>;
  /** Brings what is stored of an ended run together. Cheap when there is nothing to do. */
  collect(runId: string): Promise<void>;
  /** Finishes what was interrupted, and removes folders of runs that `isKnown` denies. */
  tidy(input: { isKnown: (runId: string) => Promise<boolean> }): Promise<readonly string[]>;
}

/** A call that a planner wants made. With `error`, the step settles with it and nothing runs. */
export interface PlannedCall {
  name?: string;
  call_id?: string;
  tool: string;
  args: unknown;
  error?: Problem;
}

export type PlannerDecision =
  | { kind: 'calls'; message: string; answer?: unknown; calls: PlannedCall[] }
  | { kind: 'finish'; message: string; answer?: unknown }
  | { kind: 'give_up'; message: string; reason: Problem; answer?: unknown };

export interface SettledStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: unknown;
  status: StepStatus;
  value?: unknown;
  error?: Problem;
}

/** One past turn, as a planner reads it back. */
export interface PastTurn {
  turn: number;
  message: string;
  answer?: unknown;
  steps: SettledStep[];
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
  /** The whole history, oldest first: grows with the run. */
  history(): Promise<PastTurn[]>;
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

/** The engine's log lines: an object of fields and a message. pino fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
