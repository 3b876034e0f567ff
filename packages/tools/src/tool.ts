import type { Effect, Preview, Risk, TaskHandle, ToolOutcome } from '@holdpoint/contract';
import type { Command, CommandResult, WorkspaceFiles } from '@holdpoint/sandbox/port';
import type { z } from 'zod';
import type { TextWork } from './text-work/text-work.ts';

/** What a call's effect may depend on beside its arguments. */
export interface RunFacts {
  /** The run's tools may reach something outside. */
  network: boolean;
  /** Nobody answers questions: the run is a sub-agent's. @default false */
  unattended?: boolean;
}

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
  tasks: TaskHandle;
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
