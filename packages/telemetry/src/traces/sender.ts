import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { exportWithin } from '../export-within.ts';

interface SenderOptions {
  /** Milliseconds that an export may take, whatever the receiver does. */
  timeoutMs: number;
  onDropped(spans: number, error: Error | undefined): void;
}

/** Sends spans to a receiver, which may be slow, full, gone, or answer anything. Resolves when they are sent or given up; never rejects. */
export type Sender = (spans: ReadableSpan[]) => Promise<void>;

/** An exporter with a bound on time that also holds for a receiver that answers byte by byte, and a count of what it did not send. */
export const openSender =
  (exporter: SpanExporter, { timeoutMs, onDropped }: SenderOptions): Sender =>
  async (spans) => {
    const { code, error } = await exportWithin(exporter, spans, timeoutMs);
    if (code !== ExportResultCode.SUCCESS) onDropped(spans.length, error);
  };
