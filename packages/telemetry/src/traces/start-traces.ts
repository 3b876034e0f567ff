import type { EndedSpans } from '@holdpoint/contract';
import type { Telemetry } from 'bullmq';
import type { Logger } from 'pino';
import type { Service } from '../resource.ts';
import type { DropReason } from './sender.ts';
import type { TraceSettings } from './trace-settings.ts';

/** The traces of a process. */
export interface Traces {
  /** Where the spans of runs go: a `TelemetryPort` of the engine. */
  take(batch: readonly EndedSpans[], signal: AbortSignal): Promise<void>;
  /** For BullMQ's `telemetry` option. */
  queues: Telemetry;
  /** Sends what is left, in bounded time. */
  stop(): Promise<void>;
}

export interface TraceDeps {
  service: Service;
  logger: Pick<Logger, 'warn' | 'debug'>;
  /** Counts spans that no receiver got. */
  onDropped?: ((spans: number, reason: DropReason) => void) | undefined;
  /** Milliseconds that `stop` may take. @default 5000 */
  stopMs?: number;
}

/**
 * Starts the traces of a process. Off, nothing of the SDK is imported: the import takes longer than the rest of an app.
 * @param settings undefined: off
 */
export async function startTraces(deps: TraceDeps, settings: TraceSettings | undefined): Promise<Traces | undefined> {
  if (settings === undefined) return undefined;
  const { openTraces } = await import('./open-traces.ts');
  return openTraces(deps, settings);
}
