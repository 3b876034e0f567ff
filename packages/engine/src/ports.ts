import type {
  CommandLimits,
  ConflictSummary,
  Connection,
  Effect,
  EventOf,
  MergeContent,
  Network,
  PathChange,
  Preview,
  Problem,
  Published,
  PublishOptions,
  PublishPlan,
  Resolution,
  Risk,
  RunSpec,
  SecretScope,
  ShellSpec,
  Source,
  StepStatus,
  TaskHandle,
  TaskOutcome,
  ToolOutcome,
  Validator,
  ValidatorResult,
} from '@holdpoint/contract';
import type { OutputWriter } from './outputs/output-store.ts';

/** What the engine needs of tools, workspaces and planners. The worker passes the real ones. */

interface Call {
  toolset: string;
  tool: string;
  args: unknown;
}

export type Description =
  /** `sequential`: it keeps its place among the calls of its turn as one that writes does. */
  | { ok: true; args: unknown; effect: Effect; risk: Risk; gate?: 'input'; sequential?: true }
  /** `issues`: what is wrong with the arguments, by JSON pointer. */
  | { ok: false; error: Problem; issues?: readonly { pointer: string; detail: string }[] };

/** Which tools there are and what a call of them would be. Pure: touches no workspace. */
export interface ToolCatalog {
  /**
   * @param call.network whether the run's tools may reach anything outside: a command that can is an external effect
   * @param call.unattended the call is a sub-agent's: no person answers questions
   */
  describe(call: Call & { network: boolean; unattended?: boolean }): Description;
  /** The version of each tool of a toolset: a short digest of what a call of it must look like. */
  versions(toolset: string): Record<string, string>;
}

export interface ExecutionContext {
  runId: string;
  stepId: string;
  attempt: number;
  /** Which tree of the workspace: a call whose tree was taken over fails. */
  epoch: number;
  tasks: TaskHandle;
  /** The id of the task that this call begins, if it does. */
  taskId: string;
  /** The task that an earlier attempt of this call waited for, and its deadline. */
  deferred?: { task_id: string; until: number };
  /** How many runs are above this one. */
  depth: number;
  maxDepth: number;
  /** Absent for a scripted run. */
  model?: string;
  /** Milliseconds one command may take at most. */
  wallMs: number;
  /** The run's other bounds of one command. */
  limits: CommandLimits;
  network: Network;
  scope: SecretScope;
  /** Called for every connection that the call made or was refused, when the connection ends. */
  onConnection(connection: Connection): void;
  signal: AbortSignal;
}

export interface Executor {
  /** What a person should see before deciding; undefined when the call itself says it all. */
  preview(
    call: Call,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'network' | 'scope' | 'signal'> & {
      tasks: Pick<TaskHandle, 'previewMerge'>;
    },
  ): Promise<Preview | undefined>;
  /** Runs a call. Tool errors are outcomes; an exception is an infrastructure error, and the attempt is indeterminate. */
  execute(call: Call, context: ExecutionContext): Promise<ToolOutcome>;
  /** Runs a validator in the sandbox, on the workspace as it is, without a network. An exception is an infrastructure error. */
  validate(
    validator: Validator,
    context: Pick<ExecutionContext, 'runId' | 'epoch' | 'limits' | 'scope' | 'signal'>,
  ): Promise<ValidatorResult>;
  /** Runs a command beside the steps until it ends. Its output goes to `output` as it comes. An exception is an infrastructure error. */
  runTask(spec: ShellSpec, context: TaskContext): Promise<TaskEnd>;
  /** Ends what a task has running, whichever worker of this host started it. */
  killTask(runId: string, taskId: string): Promise<void>;
}

export interface TaskContext
  extends Pick<
    ExecutionContext,
    'runId' | 'epoch' | 'wallMs' | 'limits' | 'network' | 'scope' | 'onConnection' | 'signal'
  > {
  taskId: string;
  output: OutputWriter;
  /** Called when the command begins to run. */
  onBegun(): void;
}

/** `killed`: ended from outside; the engine knows whether it requested that. */
export interface TaskEnd extends TaskOutcome {
  status: 'completed' | 'failed' | 'killed' | 'timed_out';
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
  conflicts: (ConflictSummary & { resolvable: boolean })[];
  /** What the run made or changed and cannot be published, such as a socket. A person has to accept that. */
  unpublishable: string[];
  /** Files that would be published and hold the value of a secret. */
  secrets: readonly { path: string; names: readonly string[] }[];
  plan: PublishPlan;
}

export interface PublishCall {
  runId: string;
  snapshot: string;
  target: PublishOptions;
  resolutions: readonly Resolution[];
  scope: SecretScope;
}

export type TreeState =
  | { status: 'sound' }
  | ({ status: 'lost' } & Pick<EventOf<'workspace.distrusted'>['data'], 'reason' | 'detail'>);

/** What a tree has that a snapshot has not. */
export interface Difference {
  /** The tree as it is now. */
  snapshot: string;
  files_changed: number;
  skipped: number;
  /** The first of them; `total` counts all. */
  changes: PathChange[];
  total: number;
}

export interface WorkspacePort {
  materialise(input: Making & { source: Source }): Promise<MadeWorkspace>;
  /** A workspace out of another run's snapshot. */
  fork(input: Making & { from: { runId: string; snapshot: string } }): Promise<MadeWorkspace>;
  /**
   * @param input.paths the changed paths, when they are known; absent: look at the whole tree
   * @throws `ESECRETWRITTEN` when a changed file holds the value of a secret of the run. Then nothing is stored
   */
  snapshot(input: {
    runId: string;
    epoch: number;
    parent: string;
    message: string;
    paths?: readonly string[];
    scope: SecretScope;
  }): Promise<{ snapshot: string; files_changed: number; skipped: number }>;
  /** Whether the tree is what the log says; see `TreeState`. */
  inspect(input: {
    runId: string;
    epoch: number;
    /** The writer that the log says was let at the tree last. */
    writer: string;
    snapshot: string;
    /** A background command may be changing the files now. */
    isShared: boolean;
  }): Promise<TreeState>;
  /** Lets a writer at the tree that the log has recorded, before it changes anything. Throws when any other came after `after`. */
  admit(input: { runId: string; epoch: number; after: string; writer: string }): Promise<void>;
  /** The epoch of the newest tree on disk; 0: there is none. */
  newestEpoch(runId: string): Promise<number>;
  /**
   * Acts while the run's background commands stand still, whichever worker of this host runs them; they continue afterwards, also when this
   * process dies in between. One that is started in between begins afterwards, so the act must not wait for it. Calls may be nested.
   * Throws `EFREEZEFAILED` when they cannot be stopped: then the act was not called.
   */
  withFrozen<Result>(runId: string, act: () => Promise<Result>): Promise<Result>;
  /**
   * Takes a snapshot of the whole tree and compares it with the one that was decided on; undefined when nothing differs, not even what no
   * snapshot holds.
   */
  differenceFrom(input: {
    runId: string;
    epoch: number;
    /** The run's last snapshot. */
    parent: string;
    decided: string;
    message: string;
    scope: SecretScope;
  }): Promise<Difference | undefined>;
  /** Ends whatever is running on the workspace. */
  killAll(runId: string): Promise<void>;
  /** Changes the tree in place, back to a snapshot. */
  restore(input: { runId: string; epoch: number; snapshot: string }): Promise<void>;
  /** Makes a new tree of that epoch at a snapshot. Calls on older trees fail from then on, and processes on them are killed. */
  takeOver(input: { runId: string; epoch: number; snapshot: string; signal: AbortSignal }): Promise<void>;
  /** What a run changed between two of its snapshots, to be shown. */
  contentOf(input: { runId: string; from: string; to: string }): Promise<MergeContent>;
  /** Brings the changes of another run, which began as this one was at `from.base`, into the tree; all of them or none. */
  merge(input: {
    runId: string;
    epoch: number;
    parent: string;
    from: { runId: string; snapshot: string; base: string };
    message: string;
  }): Promise<
    | { status: 'merged'; paths: readonly string[]; left_out?: readonly string[] }
    | { status: 'conflict'; conflicts: { path: string; reason: string }[] }
  >;
  planPublish(call: PublishCall): Promise<PlannedPublish>;
  /** Does what the plan with that digest said. `moved`: the source is not as that plan saw it; nothing was changed. */
  publish(
    call: PublishCall & { expect: string },
  ): Promise<
    | { status: 'published'; published: Published }
    | { status: 'conflict'; conflicts: readonly ConflictSummary[] }
    | { status: 'moved' }
  >;
  discard(runId: string): Promise<void>;
  hasTree(runId: string): Promise<boolean>;
  /** Removes the tree of an ended run and keeps its snapshots. A restore or a take-over makes it again. */
  dropTree(input: { runId: string; epoch: number }): Promise<void>;
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

/** What a model took for one turn. Cost in millionths of a US dollar, where its price is known. */
export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  cost_micros?: number;
}

export type PlannerDecision = { message: string; answer?: unknown; usage?: ModelUsage } & (
  | { kind: 'calls'; calls: PlannedCall[] }
  | { kind: 'finish' }
  | { kind: 'give_up'; reason: Problem }
);

/** A decision that let a call run. */
export interface RunDecision {
  decision: 'approve' | 'edit';
  /** With edit: the arguments that ran. Those of the step are the ones that were asked for. */
  args?: unknown;
  message?: string;
  /** An earlier attempt may have taken effect, and it ran again. */
  isIndeterminate: boolean;
}

export interface SettledStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: unknown;
  status: StepStatus;
  value?: unknown;
  error?: Problem;
  /** In the history: what people decided about it, in order. */
  decided?: RunDecision[];
}

/** One past turn, as a planner reads it back. */
export interface PastTurn {
  turn: number;
  message: string;
  answer?: unknown;
  steps: SettledStep[];
  /** What the calls of the answer come to that are no steps. */
  refused?: Problem;
  /** What people wrote to the run before this turn was planned, and after the one before. */
  readMessages: string[];
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

/** The engine's log lines: an object of fields and a message. pino fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What the engine counts for dashboards. */
export interface Metrics {
  /** Something was stuck, and was put right. */
  repaired(what: string): void;
}
