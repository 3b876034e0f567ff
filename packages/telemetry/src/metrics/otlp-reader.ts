import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import {
  type IMetricReader,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { exportWithin } from '../export-within.ts';
import type { OtlpSetting } from './metrics-setting.ts';

/** Sends the metrics by OTLP, as the standard OTEL_* variables say. @param onDropped called with the number of points that were not taken */
export async function openOtlpReader(
  { protocol, intervalMs, timeoutMs }: OtlpSetting,
  metricProducers: MetricProducer[],
  onDropped: (points: number) => void,
): Promise<IMetricReader> {
  const exporter = await openExporter(protocol);
  const send = { export: exporter.export.bind(exporter) };
  const sendCounted = async (metrics: ResourceMetrics): Promise<ExportResult> => {
    const result = await exportWithin(send, metrics, timeoutMs);
    if (result.code !== ExportResultCode.SUCCESS) onDropped(pointsOf(metrics));
    return result;
  };
  exporter.export = (metrics, done) => void sendCounted(metrics).then(done);
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    metricProducers,
  });
}

const pointsOf = ({ scopeMetrics }: ResourceMetrics): number =>
  scopeMetrics.flatMap(({ metrics }) => metrics).reduce((sum, { dataPoints }) => sum + dataPoints.length, 0);

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
