import { prometheusLabel, prometheusName } from '@holdpoint/contract/names';
import type { Attributes } from '@opentelemetry/api';
import * as sdkMetrics from '@opentelemetry/sdk-metrics';
import type { Exemplar, Exemplars } from './exemplars.ts';
import type { Scrape } from './metrics.ts';

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
