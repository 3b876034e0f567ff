import type {
  AbsentContent,
  Compaction,
  Instructed,
  Json,
  ModelAnswered,
  ModelLeft,
  ModelRetrying,
  ModelUsage,
  Problem,
  RunSpec,
  SecretScope,
  StepStatus,
  Toolchain,
  TurnNote,
} from '@holdpoint/contract';

/** A call that a planner wants made. With `error`, the step settles with it and nothing runs. */
export interface PlannedCall {
  /** @default a new one */
  step_id?: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Json;
  error?: Problem;
  /** The error is the cancel of the call by a caller. */
  isCanceled?: boolean;
}

/** What a planner said with its decision. */
interface Said {
  message: string;
  answer?: Json;
  usage?: ModelUsage;
  answered?: ModelAnswered;
}

export type PlannerDecision =
  | (Said & { kind: 'calls'; calls: PlannedCall[]; concurrent?: boolean | undefined })
  /** @param output the final answer as a value, when the goal has a schema of it */
  | (Said & { kind: 'finish'; output?: Json | undefined })
  | (Said & { kind: 'give_up'; reason: Problem })
  /** A turn without steps. The model reads the note before its next turn. */
  | (Said & { kind: 'again'; note: TurnNote })
  /** The turn is recorded, and the run pauses. */
  | (Said & { kind: 'pause'; note?: TurnNote; reason: Problem })
  /** The instructions were written, or older turns shortened: it is recorded, and the planner is asked again at once. */
  | { kind: 'instructed'; instructed: WrittenInstructions }
  | { kind: 'compacted'; compacted: WrittenCompaction }
  /** The model could not be asked: it is recorded, and the planner is asked again at `until`. No worker is held. */
  | { kind: 'retrying'; retrying: ModelRetrying }
  /** The planner is asked again at this time (milliseconds since the epoch), within a minute. Nothing is recorded. */
  | { kind: 'nap'; until: number }
  /** The model cannot be asked. The run pauses without a turn. */
  | { kind: 'unavailable'; reason: Problem };

// Records whose payloads are not stored yet.
export type WrittenInstructions = Omit<Instructed, 'system'> & { system: string };
export type WrittenCompaction = Omit<Compaction, 'summary' | 'carried'> & {
  summary?: string | undefined;
  carried?: Json | undefined;
};

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

export type StepEnding = Pick<SettledStep, 'name' | 'tool' | 'status' | 'error'>;

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
  /** A note about this answer, for the model. */
  note?: TurnNote;
  /** When it was planned. ISO 8601. */
  at: string;
}

/** A compaction that counts. Its payloads are read when it is the last summary. */
export interface PastCompaction extends WrittenCompaction {
  /** The turn that was about to be planned. */
  before_turn: number;
}

/** What a model may read of its run, as far as nothing was taken back. */
export interface PastConversation {
  /** Oldest first, without those that a summary stands for. The same object in each look, once all its steps are settled. */
  turns: PastTurn[];
  /** Messages that no turn has answered yet. */
  unread: string[];
  /** The text before the conversation, when it was written. That of a run which was forked is not its fork's. */
  instructed?: WrittenInstructions | undefined;
  /** The last one that counts. */
  compacted?: PastCompaction | undefined;
  /** All that count, oldest first. */
  compactions: PastCompaction[];
  /** What commands of the run find as node and python3. */
  toolchains?: Toolchain[] | undefined;
  /** What the git source names and the workspace does not have. */
  absent?: AbsentContent | undefined;
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
  /** How they ended. Reads no arguments and results. */
  endings(): Promise<StepEnding[]>;
  /** The snapshot that the source was: what its change set is counted from. */
  base: string | undefined;
  /** What the model may read. */
  history(): Promise<PastConversation>;
  /** The model of the goal, or the one that a person changed it to. Empty when the goal has no model. */
  model: string;
  /** The wait for a model that could not be asked, while it lasts. */
  modelWait?: ModelRetrying | undefined;
  /** The models that the run turned from, and when. */
  modelsLeft: Record<string, ModelLeft>;
  /** Background commands and sub-agents that are not over. */
  openTasks: number;
  /** What they are, oldest first. */
  listOpenTasks(): Promise<OpenTask[]>;
  /** The run is a sub-agent: no person answers questions. */
  unattended: boolean;
  scope: SecretScope;
}

/** A background command, or a sub-agent. */
export interface OpenTask {
  id: string;
  kind: 'shell' | 'agent';
  /** The command, or what the sub-agent does. */
  title: string;
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
