import type { MetricKey, metric } from '@holdpoint/contract';

type KeyOf<Kind> = { [Key in MetricKey]: (typeof metric)[Key]['kind'] extends Kind ? Key : never }[MetricKey];

export type CounterKey = KeyOf<'counter'>;
export type HistogramKey = KeyOf<'histogram'>;
type GaugeKey = KeyOf<'gauge'>;

/** A label without a value is left out. */
type Labels<Key extends MetricKey> = { readonly [Label in (typeof metric)[Key]['labels'][number]]?: string };

/** The span of a measurement: an exemplar leads from a panel to the span. */
export interface Origin {
  trace_id: string;
  span_id?: string;
  run_id?: string;
}

export interface Reading<Key extends MetricKey> {
  value: number;
  labels?: Labels<Key>;
}

/** The answer to a scrape. */
export interface Scrape {
  contentType: string;
  body: string;
}

/** Where everything is recorded once, for `/metrics` and for OTLP. Without either of them nothing is kept. */
export interface Metrics {
  isOn: boolean;
  count<Key extends CounterKey>(key: Key, labels: Labels<Key>, by?: number, origin?: Origin): void;
  /** @param value in the unit of the metric */
  record<Key extends HistogramKey>(key: Key, value: number, labels: Labels<Key>, origin?: Origin): void;
  /** Asks for the values at each scrape and export. A value missing in the reading is absent from the output. */
  observe<Key extends GaugeKey | CounterKey>(key: Key, read: () => Readings<Key> | Promise<Readings<Key>>): void;
  /** The text of `/metrics`, in OpenMetrics when the client accepts the format. */
  scrape(accept: string | undefined): Promise<Scrape>;
  /** Sends the remaining data. */
  stop(): Promise<void>;
}

type Readings<Key extends MetricKey> = readonly Reading<Key>[];

export const noMetrics: Metrics = {
  isOn: false,
  count: () => undefined,
  record: () => undefined,
  observe: () => undefined,
  scrape: async () => ({ contentType: 'text/plain', body: '' }),
  stop: async () => undefined,
};
