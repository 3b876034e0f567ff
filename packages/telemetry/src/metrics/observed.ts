import type { MetricKey } from '@holdpoint/contract';
import { metric } from '@holdpoint/contract/names';
import type { HrTime } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import * as sdkMetrics from '@opentelemetry/sdk-metrics';
import type { Reading } from './metrics.ts';

type Read = () => readonly Reading<MetricKey>[] | Promise<readonly Reading<MetricKey>[]>;

/**
 * Values read at each collection. The SDK's own observable instruments repeat every label set ever seen: a run paused yesterday would be
 * shown for ever. Here a value missing in the reading is absent.
 */
export class Observed implements sdkMetrics.MetricProducer {
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
