import type { CapabilityReport, Command, CommandResult, WorkspaceFiles } from '@holdpoint/sandbox/port';
import type { z } from 'zod';

/** What a tool may change: nothing, the staging workspace only, or anything else. The gate reads this, never the name. */
export type Effect = 'read' | 'workspace' | 'external';

/** What a call's effect may depend on beside its arguments. */
export interface RunFacts {
  /** The run's tools may reach something outside. */
  network: boolean;
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
  | { status: 'succeeded'; value: unknown; touched?: readonly string[]; capabilities?: CapabilityReport }
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
  | { kind: 'command'; command: string; cwd: string; network: boolean }
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
  fetch(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}

/** What a call may use. Nothing else of the host. */
export interface ToolContext {
  files: WorkspaceFiles;
  run(command: Omit<Command, 'workspace' | 'signal'>): Promise<CommandResult>;
  ripgrep: string;
  /** Absent when the run was submitted without a network allowlist: it has no network. */
  network?: Network;
  signal: AbortSignal;
  /** Equal for all attempts of one step. */
  idempotencyKey: string;
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  name: string;
  /** For the model: what it does, when to use it, what comes back. */
  description: string;
  effect: Effect | ((args: z.output<Input>, run: RunFacts) => Effect);
  risk: Risk;
  /** `input`: the call is a question to a person; it always parks and its answer is the result. */
  gate?: 'input';
  input: Input;
  execute(context: ToolContext, args: z.output<Input>): Promise<ToolOutcome>;
  preview?(context: ToolContext, args: z.output<Input>): Promise<Preview>;
}
