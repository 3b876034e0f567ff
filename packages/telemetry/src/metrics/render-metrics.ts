import { prometheusLabel, prometheusName } from '@holdpoint/contract/names';
import type { Attributes } from '@opentelemetry/api';
import * as sdkMetrics from '@opentelemetry/sdk-metrics';
import type { Origin, Scrape } from './metrics.ts';

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

/**
 * The text of `/metrics`. OpenTelemetry's own exporter (0.301) writes no exemplars, no units in names and no OpenMetrics, and Prometheus
 * reads exemplars from OpenMetrics alone.
 */
export function renderMetrics(
  { resource, scopeMetrics }: sdkMetrics.ResourceMetrics,
  { accept = '', exemplars }: { accept?: string | undefined; exemplars: Exemplars },
): Scrape {
  const isOpen = /application\/openmetrics-text/i.test(accept);
  const lines = target(resource.attributes, isOpen);
  // The same metric in two scopes would be two families with the same name, and parsers refuse such text.
  const written = new Set<string>();
  for (const data of scopeMetrics.flatMap(({ metrics }) => metrics)) {
    const family = familyOf(data);
    if (family === undefined || written.has(family.name)) continue;
    written.add(family.name);
    lines.push(...(isOpen ? openHead(family, data) : head(family, data)));
    if (data.dataPointType === sdkMetrics.DataPointType.HISTOGRAM)
      histogram(lines, family.name, data, isOpen, exemplars);
    else if (data.dataPointType !== sdkMetrics.DataPointType.EXPONENTIAL_HISTOGRAM) {
      for (const { attributes, value } of data.dataPoints) {
        const exemplar =
          isOpen && family.type === 'counter' ? exemplars.of(data.descriptor.name, attributes)[0] : undefined;
        lines.push(`${family.name}${labelsOf(attributes)} ${numberOf(value)}${suffixOf(exemplar)}`);
      }
    }
  }
  if (isOpen) lines.push('# EOF');
  return { contentType: isOpen ? openMetrics : plainText, body: `${lines.join('\n')}\n` };
}

const plainText = 'text/plain; version=0.0.4; charset=utf-8';
const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

interface Family {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
}

function familyOf(data: sdkMetrics.MetricData): Family | undefined {
  const { name, unit } = data.descriptor;
  const isCounter = data.dataPointType === sdkMetrics.DataPointType.SUM && data.isMonotonic;
  if (data.dataPointType === sdkMetrics.DataPointType.EXPONENTIAL_HISTOGRAM) return undefined;
  const type =
    data.dataPointType === sdkMetrics.DataPointType.HISTOGRAM ? 'histogram' : isCounter ? 'counter' : 'gauge';
  return { name: prometheusName({ name, unit, kind: type }), type };
}

const head = ({ name, type }: Family, { descriptor }: sdkMetrics.MetricData): string[] => [
  `# HELP ${name} ${escapeHelp(descriptor.description)}`,
  `# TYPE ${name} ${type}`,
];

/** A counter's family has no `_total`, and a unit must be the end of the family's name. */
function openHead({ name, type }: Family, { descriptor }: sdkMetrics.MetricData): string[] {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name;
  const unit = /_(seconds|bytes)$/.exec(family)?.[1];
  return [
    `# TYPE ${family} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${family} ${unit}`]),
    `# HELP ${family} ${escapeValue(descriptor.description)}`,
  ];
}

/** The identity of the process. */
const target = (attributes: Attributes, isOpen: boolean): string[] => {
  const about = isOpen
    ? ['# TYPE target info', '# HELP target Which process this is']
    : ['# HELP target_info Which process this is', '# TYPE target_info gauge'];
  return [...about, `target_info${labelsOf(attributes)} 1`];
};

function histogram(
  lines: string[],
  name: string,
  data: sdkMetrics.HistogramMetricData,
  isOpen: boolean,
  exemplars: Exemplars,
): void {
  for (const { attributes, value } of data.dataPoints) {
    const { boundaries, counts } = value.buckets;
    const kept = isOpen ? exemplars.of(data.descriptor.name, attributes) : [];
    let sum = 0;
    for (const [at, count] of counts.entries()) {
      sum += count;
      const le = boundOf(boundaries[at], isOpen);
      lines.push(`${name}_bucket${labelsOf({ ...attributes, le })} ${sum}${suffixOf(kept[at])}`);
    }
    lines.push(`${name}_sum${labelsOf(attributes)} ${numberOf(value.sum ?? 0)}`);
    lines.push(`${name}_count${labelsOf(attributes)} ${value.count}`);
  }
}

/** OpenMetrics writes `1.0`. */
function boundOf(bound: number | undefined, isOpen: boolean): string {
  if (bound === undefined || bound === Number.POSITIVE_INFINITY) return '+Inf';
  return isOpen && Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

const suffixOf = (exemplar: Exemplar | undefined): string =>
  exemplar === undefined ? '' : ` # ${labelsOf(exemplar.labels)} ${numberOf(exemplar.value)} ${exemplar.at.toFixed(3)}`;

function labelsOf(attributes: Attributes): string {
  const pairs = Object.entries(attributes).map(
    ([name, value]) => `${prometheusLabel(name)}="${escapeValue(String(value))}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
