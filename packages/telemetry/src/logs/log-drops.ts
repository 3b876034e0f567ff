import type { Metrics } from '../metrics/metrics.ts';

/** Dropped lines of the log. They are counted from the first line on, before there are metrics to show them. */
export class LogDrops {
  #waiting = new Map<string, number>();
  #metrics: Metrics | undefined;

  add(reason: 'queue_full' | 'not_sent' | 'unwritable', lines = 1): void {
    if (this.#metrics !== undefined) this.#metrics.count('dropped', { signal: 'logs', reason }, lines);
    else this.#waiting.set(reason, (this.#waiting.get(reason) ?? 0) + lines);
  }

  reportTo(metrics: Metrics): void {
    this.#metrics = metrics;
    for (const [reason, lines] of this.#waiting) metrics.count('dropped', { signal: 'logs', reason }, lines);
    this.#waiting = new Map();
  }
}
