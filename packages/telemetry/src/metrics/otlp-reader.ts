import {
  type IMetricReader,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { OtlpSetting } from './metrics-setting.ts';

/** Sends the metrics by OTLP, as the standard OTEL_* variables say. @param onDropped called with the number of points that were not taken */
export async function openOtlpReader(
  { protocol, intervalMs, timeoutMs }: OtlpSetting,
  metricProducers: MetricProducer[],
  onDropped: (points: number) => void,
): Promise<IMetricReader> {
  const exporter = await openExporter(protocol);
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) =>
    send(metrics, (result) => {
      if (result.code !== 0) {
        const points = metrics.scopeMetrics
          .flatMap((scope) => scope.metrics)
          .map(({ dataPoints }) => dataPoints.length);
        onDropped(points.reduce((sum, count) => sum + count, 0));
      }
      done(result);
    });
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    metricProducers,
  });
}

async function openExporter(protocol: string | undefined): Promise<PushMetricExporter> {
  switch (protocol) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    default:
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
  }
}
