import { type Metric, type MetricKey, metric, prometheusName } from '@holdpoint/contract';

/** The name of each metric at `/metrics`. */
export const m = Object.fromEntries(
  Object.entries(metric as Record<string, Metric>).map(([key, value]) => [key, prometheusName(value)]),
) as Record<MetricKey, string>;

type Of<Kind> = { [Key in MetricKey]: (typeof metric)[Key]['kind'] extends Kind ? Key : never }[MetricKey];

/** A quantile of a histogram, such as 0.95, for each value of the labels. */
export function quantile(part: number, key: Of<'histogram'>, { by = [], where = '' }: Selection = {}): string {
  return `histogram_quantile(${part}, sum by (${['le', ...by].join(', ')}) (rate(${m[key]}_bucket${where}[$__rate_interval])))`;
}

/** Observations or counts per second, for each value of the labels. */
export const rate = (key: Of<'counter'>, selection?: Selection): string => sum(m[key], 'rate', selection);
export const observed = (key: Of<'histogram'>, selection?: Selection): string =>
  sum(`${m[key]}_count`, 'rate', selection);

/** The count within the page's time range. */
export const increase = (key: Of<'counter'>, selection?: Selection): string => sum(m[key], 'increase', selection);
export const happened = (key: Of<'histogram'>, selection?: Selection): string =>
  sum(`${m[key]}_count`, 'increase', selection);

interface Selection {
  by?: string[];
  /** Matchers in braces. */
  where?: string;
}

const sum = (name: string, over: 'rate' | 'increase', { by = [], where = '' }: Selection = {}): string =>
  `sum${by.length === 0 ? '' : ` by (${by.join(', ')})`} (${over}(${name}${where}[${over === 'rate' ? '$__rate_interval' : '$__range'}]))`;

/** The buckets of a histogram, for a heatmap. */
export const buckets = (key: Of<'histogram'>, where = ''): string =>
  `sum by (le) (increase(${m[key]}_bucket${where}[$__rate_interval]))`;
