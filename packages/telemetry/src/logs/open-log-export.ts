import { type Attributes, type Context, isSpanContextValid, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import { exportWithin } from '../export-within.ts';
import { resourceOf } from '../resource.ts';
import { stopWithin } from '../stop-within.ts';
import type { LogExport, LogExportDeps } from './log-export.ts';
import type { LogExportSettings } from './log-export-settings.ts';
import { severityOf } from './log-levels.ts';

export async function openLogExport(
  { service, spanOf, onDropped, stopMs = 3000 }: LogExportDeps,
  { protocol, queue, timeoutMs }: LogExportSettings,
): Promise<LogExport> {
  const exporter = await openExporter(protocol);
  let waiting = 0;
  // The SDK's batch processor drops records silently when its queue is full: here they are counted.
  const batches = new BatchLogRecordProcessor({
    maxQueueSize: queue.size,
    maxExportBatchSize: queue.batch,
    scheduledDelayMillis: queue.delayMs,
    // The bound is that of `exportWithin`, which counts: the processor must not give up first.
    exportTimeoutMillis: 2 * timeoutMs,
    exporter: {
      export(records, done) {
        waiting -= records.length;
        void exportWithin(exporter, records, timeoutMs).then(({ code }) => {
          if (code !== ExportResultCode.SUCCESS) onDropped(records.length, 'not_sent');
          // A failure is counted here. The processor would only report it once more.
          done({ code: ExportResultCode.SUCCESS });
        });
      },
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    },
  });
  const provider = new LoggerProvider({ resource: resourceOf(service), processors: [batches] });
  const logger = provider.getLogger('holdpoint', service.version);
  return {
    write(text) {
      const line = parse(text);
      if (line === undefined) return;
      if (waiting >= queue.size) return onDropped(1, 'queue_full');
      waiting += 1;
      const { level, time, msg, ...rest } = line;
      logger.emit({
        ...severityOf(Number(level)),
        timestamp: Number(time),
        body: typeof msg === 'string' ? msg : '',
        attributes: flat(rest),
        context: contextOf(line, spanOf),
      });
    },
    stop: () => stopWithin(stopMs, () => provider.shutdown()),
  };
}

async function openExporter(protocol: string): Promise<LogRecordExporter> {
  switch (protocol) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-logs-otlp-grpc')).OTLPLogExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-logs-otlp-http')).OTLPLogExporter();
    default:
      return new (await import('@opentelemetry/exporter-logs-otlp-proto')).OTLPLogExporter();
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? { ...line } : undefined;
  } catch {
    return undefined;
  }
}

/** Attributes are flat: an object becomes its JSON. */
const flat = (fields: Record<string, unknown>): Attributes =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined || value === null) return [];
      return [[name, typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean)]];
    }),
  );

function contextOf({ run_id, step_id, trace_id }: Record<string, unknown>, spanOf: LogExportDeps['spanOf']): Context {
  if (typeof run_id !== 'string' || typeof trace_id !== 'string') return ROOT_CONTEXT;
  const spanId = spanOf({ run_id, ...(typeof step_id === 'string' && { step_id }) });
  const context = { traceId: trace_id, spanId, traceFlags: TraceFlags.SAMPLED };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
