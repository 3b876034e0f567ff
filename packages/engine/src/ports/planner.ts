import type * as contract from '@holdpoint/contract';
import type { BudgetUse } from '../domain/index.ts';

export type { BudgetUse } from '../domain/index.ts';

/** A call requested by a planner. With `error`, the step settles with this error and nothing runs. */
export interface PlannedCall {
  /** @default a new id */
  step_id?: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: contract.Json;
  error?: contract.Problem;
  /** The error is the cancel of the call by a caller. */
  isCanceled?: boolean;
}

/** The message, answer and usage of a planner, recorded with the decision. */
interface Said {
  message: string;
  answer?: contract.Json;
  usage?: contract.ModelUsage;
  answered?: contract.ModelAnswered;
}

export type PlannerDecision =
  | (Said & { kind: 'calls'; calls: PlannedCall[]; concurrent?: boolean | undefined })
  /** @param output the final answer as a value, when the goal has a schema for the answer */
  | (Said & { kind: 'finish'; output?: contract.Json | undefined })
  | (Said & { kind: 'give_up'; reason: contract.Problem })
  /** A turn without steps. The model reads the note before its next turn. */
  | (Said & { kind: 'again'; note: contract.TurnNote })
  /** The turn is recorded, and the run pauses. */
  | (Said & { kind: 'pause'; note?: contract.TurnNote; reason: contract.Problem })
  /** The instructions were written, or older turns shortened. The engine records the text and asks the planner again at once. */
  | { kind: 'instructed'; instructed: WrittenInstructions }
  | { kind: 'compacted'; compacted: WrittenCompaction }
  /** Something happened beside the conversation. The engine records the message to the model and asks the planner again at once. */
  | { kind: 'notified'; notified: contract.Notified }
  /** The model could not be asked. The engine records the retry and asks the planner again at `until`. No worker is held. */
  | { kind: 'retrying'; retrying: contract.ModelRetrying }
  /** The planner is asked again at this time (milliseconds since the epoch), within a minute. Nothing is recorded. */
  | { kind: 'nap'; until: number }
  /** The model cannot be asked. The run pauses without a turn. */
  | { kind: 'unavailable'; reason: contract.Problem };

// Records whose payloads are not stored yet.
export type WrittenInstructions = Omit<contract.Instructed, 'system'> & { system: string };
export type WrittenCompaction = Omit<contract.Compaction, 'summary' | 'carried'> & {
  summary?: string | undefined;
  carried?: contract.Json | undefined;
};

/** A decision to let a call run. */
export interface RunDecision {
  decision: 'approve' | 'edit';
  /** With edit: the arguments of the executed call. The step keeps the requested arguments. */
  args?: contract.Json;
  message?: string;
  /** An earlier attempt may have taken effect, and the call ran again. */
  isIndeterminate: boolean;
}

export interface SettledStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: contract.Json;
  status: contract.StepStatus;
  value?: contract.Json;
  error?: contract.Problem;
  /** The result by the toolset's contract. Set for a named step and in the history, once the step is settled. */
  native?: contract.Json | undefined;
  /** In the history: what a model reads of a long result. */
  long?: contract.LongResult | undefined;
  /** In the history: the decisions of people about the step, in order. */
  decided?: RunDecision[];
}

export type StepEnding = Pick<SettledStep, 'name' | 'tool' | 'status' | 'error'>;

/** A past turn, as a planner reads the turn back. */
export interface PastTurn {
  turn: number;
  message: string;
  answer?: contract.Json;
  steps: SettledStep[];
  /** The error for calls of the answer above the limit of a turn. These calls are no steps. */
  refused?: contract.Problem;
  /** Messages of people to the run, written between the planning of the turn before and of this turn. */
  readMessages: string[];
  /** Notices to the model, recorded before this turn. */
  notified?: string[] | undefined;
  /** What the model read before this turn: it repeated itself. */
  warned?: string | undefined;
  /** A note about this answer, for the model. */
  note?: contract.TurnNote;
  /** The time of planning. ISO 8601. */
  at: string;
}

/** A compaction not taken back. Its payloads are read only for the last summary. */
export interface PastCompaction extends WrittenCompaction {
  /** The turn to be planned when the compaction was written. */
  before_turn: number;
}

/** The end of a task that no result has shown to the model. */
export interface NewsOfTask extends Pick<contract.TaskOutcome, 'exit_code' | 'reason' | 'merged'> {
  id: string;
  kind: 'shell' | 'agent';
  /** The command, or the job of the sub-agent. */
  title: string;
  /** The kind of the sub-agent. */
  agent?: string | undefined;
  status: contract.TaskStatus;
}

/** Something that happened to a run outside of the calls of its model. */
export type PastNews =
  | { kind: 'task_ended'; about: string; task: NewsOfTask }
  /** The tree was rebuilt from the last snapshot. @param turn the last turn planned before */
  | { kind: 'files_restored'; about: string; turn: number; reason: string }
  /** A caller undid steps. @param turn the last turn that is kept */
  | { kind: 'steps_undone'; about: string; turn: number; steps: number; by: string };

/** The part of its run a model may read: everything not taken back. */
export interface PastConversation {
  /** Oldest first, without the turns replaced by a summary. A turn with all steps settled is the same object on every read. */
  turns: PastTurn[];
  /** Messages not yet answered by a turn. */
  unread: string[];
  /** Notices that no turn has read yet. */
  notified: string[];
  /** All notices given, as `kind about`. */
  given: ReadonlySet<string>;
  news: PastNews[];
  /** The text before the conversation, once written. A fork does not inherit the text of the forked run. */
  instructed?: WrittenInstructions | undefined;
  /** The last compaction not taken back. */
  compacted?: PastCompaction | undefined;
  /** All compactions not taken back, oldest first. */
  compactions: PastCompaction[];
  /** The node and python3 found by commands of the run. */
  toolchains?: contract.Toolchain[] | undefined;
  /** Content named by the git source and missing in the workspace. */
  absent?: contract.AbsentContent | undefined;
}

export interface PlannerInput {
  runId: string;
  spec: contract.RunSpec;
  /** The number of the turn to plan, from 1. */
  turn: number;
  /** The outcome of a settled step by its name; undefined when there is none. */
  named(name: string): Promise<SettledStep | undefined>;
  /** The steps of the turn before; empty before the first. */
  previous(): Promise<SettledStep[]>;
  /** How they ended. Reads no arguments and results. */
  endings(): Promise<StepEnding[]>;
  /** The run's first snapshot, a copy of the source. The change set counts from here. */
  base: string | undefined;
  /** The snapshot that the workspace is at. A fork begins with changes of another run. */
  snapshot?: string | undefined;
  /** The conversation as far as the model may read. */
  history(): Promise<PastConversation>;
  /** A content named by a result, by its SHA-256. @throws EngineError `blob_missing`, `blob_damaged` */
  readContent(sha256: string): Promise<Buffer>;
  /** Counts the tokens of a request whose answer the decision does not have, at once. */
  recordUsed(used: contract.EventOf<'model.used'>['data']): Promise<void>;
  /** What the model has to read before this turn: it repeats itself. */
  warned?: string | undefined;
  /** The limits of the run, with their use. */
  budgets: BudgetUse[];
  /** The model of the goal, or its replacement by a person. Empty when the goal has no model. */
  model: string;
  /** The wait for a model that could not be asked. Undefined when the wait is over. */
  modelWait?: contract.ModelRetrying | undefined;
  /** The models the run turned away from, and when. */
  modelsLeft: Record<string, contract.ModelLeft>;
  /** Number of background commands and sub-agents not yet over. */
  openTasks: number;
  /** The open tasks, oldest first. */
  listOpenTasks(): Promise<OpenTask[]>;
  /**
   * Whether the policies in force would ask a person about a call, by its arguments alone. The gate judges again, and may decide otherwise.
   */
  wouldHold(call: { tool: string; args: contract.Json }): boolean;
  /** The run is a sub-agent: no person answers questions. */
  unattended: boolean;
  scope: contract.SecretScope;
}

/** A background command, or a sub-agent. */
export interface OpenTask {
  id: string;
  kind: 'shell' | 'agent';
  /** The command, or the job of the sub-agent. */
  title: string;
}

/** Decides the next turn. An exception is an infrastructure error: the queue retries the turn, and the run pauses after the last retry. */
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
