import type { ToolOutcome } from '@holdpoint/contract';
import { type Failure, failure } from '../../operations/cut-short.ts';

/** The return value of this contract's tools: the text for the model, the changed paths, and figures. */
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

/** @param metadata the contract's record of a failed call. @param more data for later calls */
export const refused = (
  code: string,
  message: string,
  suggestion: string,
  metadata?: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Failure => failure(code, message, suggestion, metadata && { metadata, ...more });
