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

/** What a call may use. Nothing else of the host. */
export interface ToolContext {
  files: WorkspaceFiles;
  run(command: Omit<Command, 'workspace' | 'signal'>): Promise<CommandResult>;
  ripgrep: string;
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
