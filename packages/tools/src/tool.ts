import type { CapabilityReport, Command, CommandResult, WorkspaceFiles } from '@holdpoint/sandbox';
import type { z } from 'zod';
import type { TextWork } from './text-work/text-work.ts';

/** What a tool may change: nothing, the staging workspace only, or anything else. The gate reads this, never the name. */
export type Effect = 'read' | 'workspace' | 'external';

/** What a call's effect may depend on beside its arguments. */
export interface RunFacts {
  /** The run's tools may reach something outside. */
  network: boolean;
  /** Nobody answers questions: the run is a sub-agent's. @default false */
  unattended?: boolean;
}

/** How much a person should worry when asked. Shown with an approval. */
export type Risk = 'low' | 'medium' | 'high';

/** An error as data for the planner: a stable code, what happened, what to do next. */
export interface ToolError {
  code: string;
  message: string;
  next?: string;
}

/**
 * What a call came to. `touched`: the workspace paths it changed, when it knows them all; a `workspace` tool that leaves it out makes the
 * snapshot walk the tree. `value` is JSON.
 */
export type ToolOutcome =
  | {
      status: 'succeeded';
      value: unknown;
      touched?: readonly string[];
      capabilities?: CapabilityReport;
      /** Runs beside the steps from now on, under the context's `taskId`. */
      task?: NewTask;
    }
  /**
   * The call waits for a task and holds no worker meanwhile: it is made again when the task is over, or at that time (milliseconds since
   * the epoch). Only of a tool that reads.
   */
  | { status: 'deferred'; until: number; on: { task_id: string } | { task: NewTask } }
  | {
      status: 'failed' | 'timed_out' | 'killed';
      error: ToolError;
      value?: unknown;
      touched?: readonly string[];
      capabilities?: CapabilityReport;
    };

/** What a person sees before deciding. */
export type Preview =
  | { kind: 'diff'; path: string; patch: string }
  | { kind: 'command'; command: string; cwd: string; network: readonly string[]; background?: true }
  /** `snapshot` of the sub-agent's run `run_id`: the call brings exactly that. */
  | {
      kind: 'merge';
      task_id: string;
      run_id: string;
      snapshot: string;
      changes: { path: string; change: 'added' | 'modified' | 'deleted' | 'unknown' }[];
      total: number;
      patch: string;
      cut: boolean;
    }
  | { kind: 'question'; question: string; options: string[] }
  | { kind: 'problem'; message: string };

export interface NetworkRequest {
  url: string;
  /** @default 'GET' */
  method?: 'GET' | 'HEAD';
  headers?: Record<string, string>;
  max_bytes?: number;
  timeout_ms?: number;
}

export interface NetworkResponse {
  /** Where the body came from, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer than `max_bytes`, and cut. */
  truncated: boolean;
  /** Every address that was asked, in order. */
  hops: string[];
}

/**
 * The network as far as the run's allowlist goes. Fails with an error of `code`, `message` and `next`: `EURLINVALID`, `ENETWORKOFF`,
 * `EHOSTNOTALLOWED`, `EADDRESSREFUSED`, `EREDIRECTREFUSED`, `ETOOLARGE`, `ETIMEOUT` or `ENETWORK`.
 */
export interface Network {
  /** The allowlist: `host`, `host:port` or `*.host:port`. Never empty. */
  hosts: readonly string[];
  fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}

/** A background command, or a sub-agent: a run of its own that works on a copy of the workspace. */
export type NewTask =
  | {
      kind: 'shell';
      title: string;
      /** `cwd` relative to the workspace root. */
      spec: { command: string; cwd?: string; timeout_ms?: number };
    }
  | { kind: 'agent'; title: string; spec: { task: AgentTask } };

/** What decides a sub-agent's turns: a model with a prompt, or a plan. */
export type AgentTask =
  | { planner: 'model'; model: string; prompt: string }
  | {
      planner: 'scripted';
      plan: {
        groups: {
          on_error: 'stop' | 'continue';
          steps: { name?: string | undefined; tool: string; args: Record<string, z.core.util.JSONType> }[];
        }[];
      };
    };

export type TaskStatus = 'queued' | 'running' | 'capturing' | 'completed' | 'failed' | 'killed' | 'timed_out' | 'lost';

export interface Task {
  id: string;
  kind: 'shell' | 'agent';
  title: string;
  /** `capturing`: it has ended, and its changes are being taken into a snapshot. `lost`: it died with its worker. */
  status: TaskStatus;
  /** When it is over. A killed command has no exit code. `message`: the last word of a sub-agent. */
  outcome?: { exit_code: number | null; reason?: ToolError; message?: string; duration_ms?: number };
  /** Of a sub-agent: its run, and how that stands (`waiting`: for a person). */
  child?: { run_id: string; status: string };
  created_at: string;
  started_at?: string;
  ended_at?: string;
}

/** A part of what a background command printed. Cursors count bytes from its beginning. */
export interface TaskOutput {
  text: string;
  /** Where `text` begins: later than asked when what was asked for is no longer kept. */
  from: number;
  next: number;
  total: number;
  /** Bytes between what was asked for and `from`. */
  omitted: number;
}

/** The tasks of the run that a call belongs to. */
export interface Tasks {
  list(): Promise<Task[]>;
  get(taskId: string): Promise<Task | undefined>;
  output(taskId: string, at: { stream: 'stdout' | 'stderr'; from: number; maxBytes: number }): Promise<TaskOutput>;
  /** Asks for the end of a task and waits for it, 10 s at most. Of one that is over: nothing happens. */
  kill(taskId: string): Promise<Task | undefined>;
  /** Brings what a sub-agent changed into the workspace, all of it or nothing. Only for a tool that writes. */
  merge(
    taskId: string,
  ): Promise<
    | { status: 'merged'; paths: readonly string[]; left_out?: readonly string[] }
    | { status: 'conflict'; conflicts: { path: string; reason: string }[] }
    | { status: 'refused'; problem: ToolError }
  >;
  /** What a merge would bring now. Changes nothing; for a preview. */
  previewMerge(
    taskId: string,
  ): Promise<
    | ({ status: 'ready' } & Omit<Extract<Preview, { kind: 'merge' }>, 'kind' | 'task_id'>)
    | { status: 'refused'; problem: ToolError }
  >;
}

/** What a call may use. Nothing else of the host. */
export interface ToolContext {
  files: WorkspaceFiles;
  run(command: Omit<Command, 'workspace' | 'signal'>): Promise<CommandResult>;
  ripgrep: string;
  /** For texts that may be large. */
  text: TextWork;
  /** Absent when the run was submitted without a network allowlist: it has no network. */
  network?: Network;
  signal: AbortSignal;
  /** Equal for all attempts of one step. */
  idempotencyKey: string;
  tasks: Tasks;
  /** The id of the task that this call begins, if it does. */
  taskId: string;
  /** What this call was waiting for when it was made before, and until when (milliseconds since the epoch). */
  deferred?: { task_id: string; until: number };
  /** How many sub-agents deep the run is (0: nobody's), and how deep they may go. */
  depth: number;
  maxDepth: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Of a model run. */
  model?: string;
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  name: string;
  /** For the model: what it does, when to use it, what comes back. */
  description: string;
  effect: Effect | ((args: z.output<Input>, run: RunFacts) => Effect);
  risk: Risk;
  /** `input`: the call is a question to a person; it always parks and its answer is the result. */
  gate?: 'input';
  /** It changes something beside the files that other calls see, such as a task: it keeps its place among the calls of its turn as one that writes does. */
  sequential?: true;
  input: Input;
  execute(context: ToolContext, args: z.output<Input>): Promise<ToolOutcome>;
  preview?(context: ToolContext, args: z.output<Input>): Promise<Preview>;
}
