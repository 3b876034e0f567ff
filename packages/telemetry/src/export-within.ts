import { type ExportResult, ExportResultCode } from '@opentelemetry/core';

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/**
 * Exports in bounded time, for any receiver: the exporter's own bound is on silence, and a receiver with slow single bytes is never silent.
 * Never rejects.
 */
export async function exportWithin<Items>(
  exporter: Exporter<Items>,
  items: Items,
  timeoutMs: number,
): Promise<ExportResult> {
  const { promise, resolve } = Promise.withResolvers<ExportResult>();
  const fail = (error: Error): void => resolve({ code: ExportResultCode.FAILED, error });
  const timer = setTimeout(() => fail(new Error('The receiver is slow.')), timeoutMs).unref();
  try {
    exporter.export(items, resolve);
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
  const result = await promise;
  clearTimeout(timer);
  return result;
}
