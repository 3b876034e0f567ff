import type { ToolOutcome } from '@holdpoint/contract';
import { type Failure, failure } from '../../operations/failure.ts';

/** What a tool of this contract returns: the text for the model, the paths that it changed, and figures. */
export interface CliAgentValue {
  output: string;
  files_affected: readonly string[];
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export const success = (value: CliAgentValue, touched?: readonly string[]): ToolOutcome => ({
  status: 'succeeded',
  value,
  touched,
});

/** @param metadata what the contract keeps of a call that fails. @param more what later calls use */
export const refused = (
  code: string,
  message: string,
  suggestion: string,
  metadata?: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Failure => failure(code, message, suggestion, metadata && { metadata, ...more });
