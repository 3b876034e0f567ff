import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { exportWithin } from '../export-within.ts';

/** Why spans were dropped. */
export type DropReason = 'queue_full' | 'not_sent';

export interface SenderOptions {
  /** Milliseconds that an export may take, whatever the receiver does. */
  timeoutMs: number;
  onDropped(spans: number, reason: DropReason, error?: Error): void;
}

/** Sends spans to a receiver, which may be slow, full, gone, or answer anything. Never throws. */
export interface Sender extends SpanExporter {
  /** Resolves when the spans are sent or given up. */
  send(spans: ReadableSpan[]): Promise<void>;
}

/** An exporter with a bound on time that also holds for a receiver that answers byte by byte, and a count of what it did not send. */
export function openSender(exporter: SpanExporter, { timeoutMs, onDropped }: SenderOptions): Sender {
  const send = async (spans: ReadableSpan[]): Promise<void> => {
    const { code, error } = await exportWithin(exporter, spans, timeoutMs);
    if (code !== ExportResultCode.SUCCESS) onDropped(spans.length, 'not_sent', error);
  };
  return {
    send,
    // A failure is counted here. The processor would only log it once more.
    export: (spans, done) => void send(spans).then(() => done({ code: ExportResultCode.SUCCESS })),
    shutdown: () => exporter.shutdown(),
  };
}
