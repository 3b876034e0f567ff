import { BatchSpanProcessor, type ReadableSpan, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { DropReason, Sender } from './sender.ts';
import type { TraceSettings } from './trace-settings.ts';

/** The SDK's batch processor, which drops spans silently when its queue is full: here they are counted. */
export function openBoundedProcessor(
  sender: Sender,
  { size, batch, delayMs }: TraceSettings['queue'],
  onDropped: (spans: number, reason: DropReason) => void,
): SpanProcessor {
  let waiting = 0;
  const batches = new BatchSpanProcessor({
    maxQueueSize: size,
    maxExportBatchSize: batch,
    scheduledDelayMillis: delayMs,
    exporter: {
      export(spans, done) {
        waiting -= spans.length;
        sender.export(spans, done);
      },
      shutdown: () => sender.shutdown(),
    },
  });
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span: ReadableSpan) {
      if (waiting >= size) return onDropped(1, 'queue_full');
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
