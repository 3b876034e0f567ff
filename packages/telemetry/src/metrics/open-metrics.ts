import type { Metric, MetricKey } from '@holdpoint/contract';
import { metric } from '@holdpoint/contract/names';
import type { Attributes, Counter, Histogram, HrTime } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import * as sdkMetrics from '@opentelemetry/sdk-metrics';
import { resourceOf, type Service } from '../resource.ts';
import type { OtlpSetting } from '../settings/metrics.ts';
import { stopWithin } from '../stop-within.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';
import type { CounterKey, HistogramKey, Metrics, Origin, Reading } from './metrics.ts';
import type { Temporalities } from './open-metrics-sender.ts';
import { Exemplars, renderMetrics } from './render-metrics.ts';

type Read = () => readonly Reading<MetricKey>[] | Promise<readonly Reading<MetricKey>[]>;

/**
 * Values read at each collection. The SDK's own observable instruments repeat every label set ever seen: a run paused yesterday would be
 * shown for ever. Here a value missing in the reading is absent.
 */
class Observed implements sdkMetrics.MetricProducer {
  readonly #reads: { key: MetricKey; read: Read }[] = [];
  readonly #scope: { name: string };
  readonly #began = now();

  constructor(scope: string) {
    this.#scope = { name: scope };
  }

  add(key: MetricKey, read: Read): void {
    this.#reads.push({ key, read });
  }

  async collect(): Promise<sdkMetrics.CollectionResult> {
    const errors: unknown[] = [];
    const points = new Map<MetricKey, sdkMetrics.DataPoint<number>[]>();
    await Promise.all(
      this.#reads.map(async ({ key, read }) => {
        try {
          const readings = await read();
          const endTime = now();
          const made = readings.map(({ value, labels = {} }) => {
            return { startTime: this.#began, endTime, attributes: { ...labels }, value };
          });
          points.set(key, [...(points.get(key) ?? []), ...made]);
        } catch (error) {
          errors.push(error);
        }
      }),
    );
    const metrics = [...points].filter(([, { length }]) => length > 0).map(([key, data]) => dataOf(key, data));
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: this.#scope, metrics }] }, errors };
  }
}

function dataOf(key: MetricKey, dataPoints: sdkMetrics.DataPoint<number>[]): sdkMetrics.MetricData {
  const { name, unit, description, kind } = metric[key];
  const base = {
    // 1: ValueType.DOUBLE, a `const enum` in the declarations alone.
    descriptor: { name, unit, description, valueType: 1 },
    aggregationTemporality: sdkMetrics.AggregationTemporality.CUMULATIVE,
    dataPoints,
  };
  return kind === 'counter'
    ? { ...base, dataPointType: sdkMetrics.DataPointType.SUM, isMonotonic: true }
    : { ...base, dataPointType: sdkMetrics.DataPointType.GAUGE };
}

function now(): HrTime {
  const ms = Date.now();
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
}

export interface MetricsOptions {
  service: Service;
  /** When absent, they are only scraped. The settings of the thread have the same settings. */
  otlp?: OtlpSetting | undefined;
  thread: TelemetryThread;
  /** Milliseconds permitted to the end. @default 3000 */
  stopMs?: number | undefined;
}

const meterName = 'holdpoint';

/** Opens OpenTelemetry's metrics, with a reader for scrapes and, on request, a reader for OTLP. Imports the SDK: see `startMetrics`. */
export async function openMetrics({ service, otlp, thread, stopMs = 3000 }: MetricsOptions): Promise<Metrics> {
  const exemplars = new Exemplars();
  const observed = new Observed(meterName);
  const scraped = new ScrapeReader({ metricProducers: [observed] });
  const onDropped = (points: number): void =>
    opened.count('dropped', { signal: 'metrics', reason: 'not_sent' }, points);
  const sent = otlp && (await openOtlpReader(thread, otlp, { metricProducers: [observed], onDropped }));
  const readers = [scraped, ...(sent === undefined ? [] : [sent])];
  const provider = new sdkMetrics.MeterProvider({ resource: resourceOf(service), readers });
  const meter = provider.getMeter(meterName);
  const counters = new Map<CounterKey, Counter>();
  const histograms = new Map<HistogramKey, Histogram>();
  const keepOrigin = (key: MetricKey, attributes: Attributes, value: number, origin: Origin | undefined): void => {
    const { name, buckets = [] }: Metric = metric[key];
    if (origin !== undefined) exemplars.put(name, { attributes, value, buckets }, origin);
  };
  let collecting: ReturnType<ScrapeReader['collect']> | undefined;
  const opened: Metrics = {
    isOn: true,
    count(key, given, by = 1, origin) {
      const labels = withValues(given);
      let counter = counters.get(key);
      if (counter === undefined) {
        const { name, unit, description } = metric[key];
        counter = meter.createCounter(name, { unit, description });
        counters.set(key, counter);
      }
      counter.add(by, labels);
      keepOrigin(key, labels, by, origin);
    },
    record(key, value, given, origin) {
      const labels = withValues(given);
      let histogram = histograms.get(key);
      if (histogram === undefined) {
        const { name, unit, description, buckets } = metric[key];
        histogram = meter.createHistogram(name, {
          ...{ unit, description },
          advice: { explicitBucketBoundaries: [...buckets] },
        });
        histograms.set(key, histogram);
      }
      // The SDK would keep a negative duration after a clock step backwards.
      const measured = Math.max(0, value);
      histogram.record(measured, labels);
      keepOrigin(key, labels, measured, origin);
    },
    observe: (key, read) => observed.add(key, read),
    async scrape(accept) {
      collecting ??= scraped.collect().finally(() => {
        collecting = undefined;
      });
      const { resourceMetrics } = await collecting;
      return renderMetrics(resourceMetrics, { accept, exemplars });
    },
    stop: () => stopWithin(stopMs, () => provider.shutdown()),
  };
  return opened;
}

const withValues = (labels: Readonly<Record<string, string | undefined>>): Attributes =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined));

/** Collects on request only. */
class ScrapeReader extends sdkMetrics.MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** Collects the metrics for the thread; the thread sends them by OTLP. @param onDropped called with the number of dropped points */
async function openOtlpReader(
  thread: TelemetryThread,
  { intervalMs }: OtlpSetting,
  { metricProducers, onDropped }: { metricProducers: sdkMetrics.MetricProducer[]; onDropped(points: number): void },
): Promise<sdkMetrics.IMetricReader> {
  thread.onDropped('metrics', onDropped);
  const temporalities = await thread.ask<Temporalities>('temporalities', undefined);
  return new sdkMetrics.PeriodicExportingMetricReader({
    exporter: {
      export({ scopeMetrics }, done) {
        thread.ask<boolean>('points', scopeMetrics).then(
          (isTaken) => done({ code: isTaken ? ExportResultCode.SUCCESS : ExportResultCode.FAILED }),
          (error: Error) => done({ code: ExportResultCode.FAILED, error }),
        );
      },
      selectAggregationTemporality: (type) => temporalities[type] ?? sdkMetrics.AggregationTemporality.CUMULATIVE,
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    },
    exportIntervalMillis: intervalMs,
    // The thread bounds the time and counts: the reader must not give up first.
    exportTimeoutMillis: intervalMs,
    metricProducers,
  });
}
