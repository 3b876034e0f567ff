import { type Metric, type MetricKey, metric, prometheusName } from '@holdpoint/contract';

/** A panel's query, in the language of its data source. */
export type Query =
  | {
      promql: string;
      /** The name of each series, for example `{{tool}}`. */
      legend?: string;
      /** Shows exemplars with links to traces. */
      exemplars?: boolean;
    }
  | { traceql: string; of: 'traces' | 'spans' }
  | { traceId: string }
  | { logql: string };

export interface Panel {
  title: string;
  /** The reader's gain from the panel, in a sentence or two. */
  about: string;
  as: 'lines' | 'stacked' | 'number' | 'table' | 'heatmap' | 'trace' | 'logs';
  /** A unit of Grafana: `s`, `short`, `bytes`, `percentunit`, `currencyUSD`, … */
  unit?: string;
  queries: Query[];
  /** Columns, of 24. @default 8 for `lines`, `stacked` and `heatmap`, 4 for `number`, 24 for the others */
  width?: number;
  /** From this value on a number is orange, and from `bad` on red. */
  warn?: number;
  bad?: number;
  /** Where a click on a value leads. */
  links?: Link[];
}

export interface Link {
  title: string;
  url: string;
}

interface Row {
  title: string;
  panels: Panel[];
}

/** A choice at the top of a page: the values of a label, or a text entered by the reader. */
export type Variable = { name: string; label: string } & ({ valuesOf: string; of: string } | { text: string });

export interface Page {
  /** The name of the file, and after `holdpoint-` the address of the page. */
  name: string;
  title: string;
  about: string;
  variables?: Variable[];
  rows: Row[];
}

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

/** From a row of a table of spans to the page of its run. */
export const toRun: Link = {
  title: 'the run',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana expands it
  url: '/d/holdpoint-run?var-run=${__data.fields["holdpoint.run.id"]}&var-trace=${__data.fields.traceIdHidden}',
};
