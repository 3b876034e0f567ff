import { ExportResultCode } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type IMetricReader,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { OtlpSetting } from '../settings/metrics.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';
import type { Temporalities } from './open-metrics-sender.ts';

/** Collects the metrics for the thread; the thread sends them by OTLP. @param onDropped called with the number of dropped points */
export async function openOtlpReader(
  thread: TelemetryThread,
  { intervalMs }: OtlpSetting,
  { metricProducers, onDropped }: { metricProducers: MetricProducer[]; onDropped(points: number): void },
): Promise<IMetricReader> {
  thread.onDropped('metrics', onDropped);
  const temporalities = await thread.ask<Temporalities>('temporalities', undefined);
  return new PeriodicExportingMetricReader({
    exporter: {
      export({ scopeMetrics }, done) {
        thread.ask<boolean>('points', scopeMetrics).then(
          (isTaken) => done({ code: isTaken ? ExportResultCode.SUCCESS : ExportResultCode.FAILED }),
          (error: Error) => done({ code: ExportResultCode.FAILED, error }),
        );
      },
      selectAggregationTemporality: (type) => temporalities[type] ?? AggregationTemporality.CUMULATIVE,
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    },
    exportIntervalMillis: intervalMs,
    // The thread bounds the time and counts: the reader must not give up first.
    exportTimeoutMillis: intervalMs,
    metricProducers,
  });
}
