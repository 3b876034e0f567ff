import type { Service } from '../resource.ts';
import type { LogExportSettings } from '../settings/log-export.ts';
import type { OtlpSetting } from '../settings/metrics.ts';
import type { TraceSettings } from '../settings/traces.ts';

/** The signals sent by the thread of a process. An absent signal is off. */
export interface ThreadSettings {
  service: Service;
  traces?: TraceSettings | undefined;
  logs?: LogExportSettings | undefined;
  metrics?: OtlpSetting | undefined;
}

/** To the thread: a request, or the cancellation of a request. */
export type Posted = { id: number; name: string; input: unknown } | { canceled: number };

/** From the thread: the answer to a request, or an unrequested event. */
export type Reply =
  | { id: number; output: unknown }
  | { id: number; error: PlainError }
  | { event: string; data: unknown };

/** An error in a form for a message between threads: the class and its own properties would be lost, or could not be copied at all. */
export interface PlainError {
  name: string;
  message: string;
  stack: string | undefined;
  code: string | undefined;
}

export function plainError(error: unknown): PlainError {
  const { name, message, stack, code }: Partial<PlainError> = typeof error === 'object' && error !== null ? error : {};
  return { name: name ?? 'Error', message: message ?? String(error), stack, code: code && String(code) };
}

export function errorOf({ name, message, stack, code }: PlainError): Error {
  const error = new Error(message);
  return Object.assign(error, { name, ...(stack !== undefined && { stack }), ...(code !== undefined && { code }) });
}

/** Signals were given up. */
export interface Dropped {
  signal: 'spans' | 'logs' | 'metrics';
  items: number;
  error?: PlainError | undefined;
}

/** A line for the log of the process. */
export interface Line {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  message: string;
}
