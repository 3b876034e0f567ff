import { type Attributes, type Context, isSpanContextValid, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import { LoggerProvider, type LogRecordExporter, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { exportWithin } from '../export-within.ts';
import type { Service } from '../resource.ts';
import type { LogExportSettings } from '../settings/log-export.ts';
import { spanOfWork } from '../traces/span-ids.ts';
import { severityOf } from './log-levels.ts';

interface Deps {
  service: Service;
  resource: Resource;
  onDropped(lines: number, error: Error | undefined): void;
}

/** An answer of the thread: `lines` sends lines of the log, and resolves when they are sent or given up. */
export async function openLogSender(
  { service, resource, onDropped }: Deps,
  { protocol, timeoutMs }: LogExportSettings,
) {
  const exporter = await openExporter(protocol);
  let records: ReadableLogRecord[] = [];
  const collect = {
    onEmit: (record: ReadableLogRecord) => void records.push(record),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const logger = new LoggerProvider({ resource, processors: [collect] }).getLogger('holdpoint', service.version);
  return {
    async lines(texts: readonly string[]): Promise<void> {
      for (const line of texts.map(parse)) {
        if (line === undefined) continue;
        const { level, time, msg, ...rest } = line;
        logger.emit({
          ...severityOf(Number(level)),
          timestamp: Number(time),
          body: typeof msg === 'string' ? msg : '',
          attributes: flat(rest),
          context: contextOf(line),
        });
      }
      const batch = records;
      records = [];
      if (batch.length === 0) return;
      const { code, error } = await exportWithin(exporter, batch, timeoutMs);
      if (code !== ExportResultCode.SUCCESS) onDropped(batch.length, error);
    },
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

function contextOf({ run_id, step_id, trace_id }: Record<string, unknown>): Context {
  if (typeof run_id !== 'string' || typeof trace_id !== 'string') return ROOT_CONTEXT;
  const spanId = spanOfWork(run_id, typeof step_id === 'string' ? step_id : undefined);
  const context = { traceId: trace_id, spanId, traceFlags: TraceFlags.SAMPLED };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
