import type {
  CommandRequest,
  CommandResult,
  Effect,
  Preview,
  Risk,
  TaskHandle,
  ToolOutcome,
  WorkspaceFiles,
} from '@holdpoint/contract';
import type { z } from 'zod';
import type { TextWork } from './text-work/text-work.ts';

/** Facts of the run that a call's effect may depend on. */
export interface RunFacts {
  /** Whether the run's tools may reach hosts. */
  network: boolean;
  /** Whether no person answers questions, because the run is a sub-agent's. @default false */
  unattended?: boolean;
}

/** Everything that a call may use of the host. */
export interface ToolContext {
  files: WorkspaceFiles;
  run(request: CommandRequest): Promise<CommandResult>;
  ripgrep: string;
  /** For texts that may be large. */
  text: TextWork;
  /** Absent when the run has no network allowlist and therefore no network. */
  network?: Network;
  signal: AbortSignal;
  /** Equal for all attempts of one step. */
  idempotencyKey: string;
  tasks: TaskHandle;
  /** The id of the task that this call may start. */
  taskId: string;
  /** The task that an earlier execution of this call waited for, and until when (milliseconds since the epoch). */
  deferred?: { task_id: string; until: number };
  /** How deep the run is nested as a sub-agent (0: it is none), and the deepest level allowed. */
  depth: number;
  maxDepth: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Present in a model run. */
  model?: string;
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  name: string;
  /** For the model: what the tool does, when to use it, what it returns. */
  description: string;
  effect: Effect | ((args: z.output<Input>, run: RunFacts) => Effect);
  risk: Risk;
  /** `input`: the call is a question to a person. It always parks, and the answer is the result. */
  gate?: 'input';
  /** The call changes something besides files that other calls see, such as a task. It keeps its order within the turn like a write. */
  sequential?: true;
  input: Input;
  execute(context: ToolContext, args: z.output<Input>): Promise<ToolOutcome>;
  preview?(context: ToolContext, args: z.output<Input>): Promise<Preview>;
}

export type Failure = Extract<ToolOutcome, { status: 'failed' | 'timed_out' | 'killed' }>;

/** @param next what the planner should do */
export const failure = (code: string, message: string, next: string, value?: unknown): Failure => ({
  status: 'failed',
  error: { code, message, next },
  value,
});

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
  /** Whether the body was cut at `max_bytes`. */
  truncated: boolean;
  /** Every requested address, in order. */
  hops: string[];
}

/**
 * The network within the run's allowlist. Fails with an error that has `code`, `message` and `next`: `EURLINVALID`, `ENETWORKOFF`,
 * `EHOSTNOTALLOWED`, `EADDRESSREFUSED`, `EREDIRECTREFUSED`, `ETOOLARGE`, `ETIMEOUT` or `ENETWORK`.
 */
export interface Network {
  /** The allowlist: `host`, `host:port` or `*.host:port`. Never empty. */
  hosts: readonly string[];
  fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}
