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
