import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { exportWithin } from '../export-within.ts';

interface SenderOptions {
  /** Milliseconds permitted to an export, for any receiver. */
  timeoutMs: number;
  onDropped(spans: number, error: Error | undefined): void;
}

/**
 * Sends spans to a receiver. The receiver may be slow, full, gone, or give any answer. Resolves when they are sent or given up; never
 * rejects.
 */
export type Sender = (spans: ReadableSpan[]) => Promise<void>;

/** An exporter with a time bound, even against a receiver with slow single bytes, and a count of the unsent spans. */
export const openSender =
  (exporter: SpanExporter, { timeoutMs, onDropped }: SenderOptions): Sender =>
  async (spans) => {
    const { code, error } = await exportWithin(exporter, spans, timeoutMs);
    if (code !== ExportResultCode.SUCCESS) onDropped(spans.length, error);
  };
