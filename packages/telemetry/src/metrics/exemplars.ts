import type { Attributes } from '@opentelemetry/api';
import type { Origin } from './metrics.ts';

export interface Exemplar {
  labels: Readonly<Record<string, string>>;
  value: number;
  /** Seconds since the epoch. */
  at: number;
}

/** As many label sets as the SDK keeps for a metric. */
const mostSeries = 2000;

/**
 * The last measurement of each series and bucket, with its span. Version 3.1 of the SDK keeps none. The exemplar also names the run:
 * without stored traces a user can still look up the run. The three labels have 116 of the 128 characters permitted by OpenMetrics.
 */
export class Exemplars {
  readonly #series = new Map<string, Exemplar[]>();

  /** @param buckets upper bounds; empty: a counter */
  put(
    name: string,
    { attributes, value, buckets }: { attributes: Attributes; value: number; buckets: readonly number[] },
    { trace_id, span_id, run_id }: Origin,
  ): void {
    const key = keyOf(name, attributes);
    let kept = this.#series.get(key);
    if (kept === undefined) {
      if (this.#series.size >= mostSeries) return;
      kept = [];
      this.#series.set(key, kept);
    }
    const labels = { trace_id, ...(span_id !== undefined && { span_id }), ...(run_id !== undefined && { run_id }) };
    kept[bucketOf(buckets, value)] = { labels, value, at: Date.now() / 1000 };
  }

  /** By the index of the bucket; a counter has index 0. */
  of(name: string, attributes: Attributes): readonly (Exemplar | undefined)[] {
    return this.#series.get(keyOf(name, attributes)) ?? [];
  }
}

function bucketOf(bounds: readonly number[], value: number): number {
  const at = bounds.findIndex((bound) => value <= bound);
  return at === -1 ? bounds.length : at;
}

const keyOf = (name: string, attributes: Attributes): string =>
  JSON.stringify([name, ...Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))]);
