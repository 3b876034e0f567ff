import { ExportResultCode } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import { InstrumentType, type PushMetricExporter, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { exportWithin } from '../export-within.ts';
import type { OtlpSetting } from '../settings/metrics.ts';

interface Deps {
  resource: Resource;
  onDropped(points: number, error: Error | undefined): void;
}

export type ScopeMetrics = ResourceMetrics['scopeMetrics'];
/** How an exporter wants each kind of instrument to be added up: its settings are in the environment. */
export type Temporalities = Partial<
  Record<InstrumentType, ReturnType<PushMetricExporter['selectAggregationTemporality'] & {}>>
>;

/** Answers of the thread: `points` sends metrics, and says whether they were taken; `temporalities`. */
export async function openMetricsSender({ resource, onDropped }: Deps, { protocol, timeoutMs }: OtlpSetting) {
  const exporter = await openExporter(protocol);
  return {
    async points(scopeMetrics: ScopeMetrics): Promise<boolean> {
      const { code, error } = await exportWithin(exporter, { resource, scopeMetrics }, timeoutMs);
      const isTaken = code === ExportResultCode.SUCCESS;
      if (!isTaken) onDropped(pointsOf(scopeMetrics), error);
      return isTaken;
    },
    temporalities: async (): Promise<Temporalities> =>
      Object.fromEntries(
        Object.values(InstrumentType).map((type) => [type, exporter.selectAggregationTemporality?.(type)]),
      ),
  };
}

const pointsOf = (scopeMetrics: ScopeMetrics): number =>
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
