import type { Client } from '@holdpoint/client';
import type { z } from 'zod';

/** The surroundings of a tool call. */
export interface ToolDeps {
  /** The API with the caller's own key, so a tool does nothing beyond the scopes of the key. */
  client: Client;
  /** Address of the console, for links to pages. No slash at the end. */
  address: string;
  now(): number;
}

/** The connection to the caller during a call. */
export interface Waiting {
  /** Aborted when the caller cancels the call or is gone. */
  signal: AbortSignal;
  /** Reports the progress of the call to callers with a progress token. @param fraction 0 to 1 */
  progress(fraction: number, message: string): Promise<void>;
}

export interface Answer<Output> {
  /** For a model, at most `mostText` characters. */
  text: string;
  /** For a program, by the tool's output schema. */
  value: Output;
}

/** A tool of the server: plain data and one function, whichever revision of the protocol a client speaks. */
export interface ToolDefinition<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** For a model: the purpose of the tool, the time to call the tool, and the meaning of its answer. */
  description: string;
  input: Input;
  output: Output;
  /** `read` changes nothing, `write` changes runs of the caller; none of them decides or publishes. */
  kind: 'read' | 'write';
  /** Whether a second call with the same arguments changes nothing more. */
  idempotent: boolean;
  run(deps: ToolDeps, input: z.output<Input>, waiting: Waiting): Promise<Answer<z.output<Output>>>;
  /**
   * For a client that follows long work as a task: returns the id of the run at once. The output schema then holds for `RunView`.
   * Without this function the tool answers every client alike.
   */
  runToFollow?(deps: ToolDeps, input: z.output<Input>, waiting: Waiting): Promise<string>;
}

export const defineTool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: ToolDefinition<Input, Output>,
): ToolDefinition => tool as unknown as ToolDefinition;
