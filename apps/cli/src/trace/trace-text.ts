import type { Client } from '@holdpoint/client';
import { attribute, genAi, general } from '@holdpoint/contract';
import { criticalPath, endOf, labelOf, spenders, startOf, timeSpent } from '@holdpoint/contract/time-spent';
import type { TraceSpan } from '@holdpoint/contract/wire';
import { duration, oneLine } from '../output/index.ts';
import type { Colors } from '../shell/index.ts';
import { type Row, spanRows } from './span-rows.ts';

/** A person's further facts about a span, after its name and time. */
function spanNote(span: TraceSpan): string {
  const { attributes: of, links, events } = span;
  const text = (name: string): string | undefined =>
    of[name] === undefined ? undefined : oneLine(String(of[name]), 60);
  const parts: (string | undefined | false)[] = [];
  switch (span.kind) {
    case 'run':
      parts.push(text(attribute.runOutcome), links.map(linkText).join(', '));
      break;
    case 'segment':
      parts.push(text(attribute.segmentReason));
      break;
    case 'iteration':
      break;
    case 'turn':
      parts.push(tokens(span), text(genAi.finishReasons), differentModel(span));
      break;
    case 'step':
      parts.push(
        unlessOk(span, attribute.stepOutcome),
        Number(of[attribute.attempts]) > 1 && `${of[attribute.attempts]} attempts`,
      );
      parts.push(of[attribute.inheritedFrom] !== undefined && 'from the other run');
      break;
    case 'attempt':
      parts.push(unlessOk(span, attribute.attemptOutcome), text(attribute.worker), exitCode(span));
      break;
    case 'wait':
      parts.push(text(attribute.decision), of[attribute.decidedBy] !== undefined && `by ${text(attribute.decidedBy)}`);
      parts.push(of[attribute.ruleId] !== undefined && `by the rule ${text(attribute.ruleId)}`);
      break;
    case 'task':
      parts.push(unlessOk(span, attribute.taskOutcome), exitCode(span), links.map(linkText).join(', '));
      break;
    case 'workspace':
      parts.push(text(attribute.worker));
      break;
    case 'publish':
      parts.push(text(attribute.publishOutcome));
      break;
    default:
      span.kind satisfies never;
  }
  parts.push(text(general.errorType), span.end === null && 'not over', repairs(events));
  return [...new Set(parts.filter(Boolean))].join(', ');
}

const unlessOk = ({ status, attributes }: TraceSpan, name: string): string | undefined =>
  status === 'ok' || attributes[name] === undefined ? undefined : String(attributes[name]);

const exitCode = ({ attributes }: TraceSpan): string | undefined =>
  attributes[general.exitCode] === undefined ? undefined : `exit code ${attributes[general.exitCode]}`;

function tokens({ attributes }: TraceSpan): string | undefined {
  const read = attributes[genAi.inputTokens];
  return read === undefined ? undefined : `${read} + ${attributes[genAi.outputTokens]} tokens`;
}

/** Providers answer with a dated name of the requested model, or with another model. */
function differentModel({ attributes }: TraceSpan): string | undefined {
  const by = attributes[genAi.responseModel];
  return by === undefined || by === attributes[genAi.requestModel] ? undefined : `by ${oneLine(String(by), 40)}`;
}

const linkText = ({ attributes }: TraceSpan['links'][number]): string =>
  [attributes[attribute.linkType], attributes[attribute.linkedRunId]]
    .filter(Boolean)
    .join(' ')
    .replaceAll('_of', ' of');

function repairs(events: TraceSpan['events']): string | undefined {
  const found = events.filter(({ name }) => name === 'run repaired');
  return found.length === 0
    ? undefined
    : `repaired: ${found.map(({ attributes }) => attributes[attribute.repairClass]).join(', ')}`;
}

interface Options {
  /** Columns of a line. */
  width: number;
  colors: Colors;
  /** Milliseconds since the epoch. */
  now: number;
  /** Every span has its line. */
  all: boolean;
}

const mostLines = 1000;
/** A narrower terminal has no place for bars. */
const leastWidth = 70;

/** A trace as lines: where the time went, then the tree with bars. Spans on which the end of the run depended have a `*`. */
export function traceText(trace: WholeTrace, options: Options): string[] {
  const { all } = options;
  const path = criticalPath(trace.spans, options.now);
  const rows = spanRows(trace.spans, options);
  const shown = all ? rows : rows.slice(0, mostLines);
  const layout = layoutOf(shown, trace.spans, options);
  return [
    `${trace.run_id}  trace ${trace.trace_id}`,
    '',
    ...spentLines(trace.spans, options),
    '',
    ...shown.map((row) => rowLine(row, isOn(row, path), layout, options)),
    ...(rows.length > shown.length ? [`… ${rows.length - shown.length} more lines: --all`] : []),
    '',
    '* the end of the run waited for it',
    '░ a step that waits',
  ];
}

function spentLines(spans: readonly TraceSpan[], { now, colors, width }: Options): string[] {
  const { total, spent } = timeSpent(spans, now);
  const most = Math.max(10, Math.min(40, width - 40));
  const lines = spenders
    .filter((name) => spent[name] > 0)
    .map((name) => {
      const part = spent[name] / Math.max(1, total);
      const percent = `${Math.round(part * 100)} %`.padStart(5);
      return `${name.padEnd(10)}${duration(spent[name]).padStart(12)} ${percent}  ${colors.cyan('█'.repeat(Math.round(part * most)))}`;
    });
  return [...lines, `${'total'.padEnd(10)}${duration(total).padStart(12)}`].map((line) => line.trimEnd());
}

interface Layout {
  name: number;
  /** Columns of the bars; 0: there are none. */
  bar: number;
  from: number;
  to: number;
}

function layoutOf(rows: readonly Row[], spans: readonly TraceSpan[], { width, now }: Options): Layout {
  const longest = Math.max(10, ...rows.map((row) => row.depth * 2 + nameOf(row).length));
  const bar = width < leastWidth ? 0 : Math.floor(width / 3);
  const name = Math.min(
    longest,
    Math.max(16, width - bar - durationWidth - 8 - (bar === 0 ? 0 : Math.floor(width / 6))),
  );
  const from = spans.reduce((first, span) => Math.min(first, startOf(span)), Number.POSITIVE_INFINITY);
  const to = spans.reduce((last, span) => Math.max(last, endOf(span, now)), 0);
  return { name, bar, from, to };
}

const durationWidth = 12;

function rowLine(row: Row, isCritical: boolean, { name, bar, from, to }: Layout, { colors, width }: Options): string {
  const indent = '  '.repeat(row.depth).slice(0, Math.max(0, name - 8));
  const label = (indent + oneLine(nameOf(row), name - indent.length)).padEnd(name);
  const paint = paintOf(row, colors);
  const bars = bar === 0 ? '' : ` ${paint(barOf(row, { bar, from, to }))}`;
  const took = duration(row.end - row.start).padStart(durationWidth);
  const used = 2 + label.length + (bar === 0 ? 0 : bar + 1) + durationWidth + 2;
  const left = width - used;
  const note = left < 8 ? '' : oneLine(noteOf(row), left);
  const mark = isCritical ? '* ' : '  ';
  return `${mark}${isCritical ? colors.bold(label) : label}${bars}${took}  ${colors.dim(note)}`.trimEnd();
}

/** A bar with the length and the place of its span in the whole. The waiting part of a step is light. */
function barOf(row: Row, { bar, from, to }: Omit<Layout, 'name'>): string {
  const { start, end } = row;
  const scale = bar / Math.max(1, to - from);
  const begin = Math.min(bar - 1, Math.floor((start - from) * scale));
  const length = Math.max(1, Math.min(bar - begin, Math.round((end - start) * scale)));
  const waits = 'span' in row ? row.waits : [];
  const isWait = (column: number): boolean => {
    // A bar begins at a whole column, possibly before the span.
    const middle = Math.max(start, from + (begin + column + 0.5) / scale);
    return waits.some((wait) => wait.start <= middle && middle < wait.end);
  };
  const drawn = Array.from({ length }, (_, column) => (end === start ? '·' : isWait(column) ? '░' : '█')).join('');
  return `${' '.repeat(begin)}${drawn}${' '.repeat(bar - begin - length)}`;
}

const nameOf = (row: Row): string => ('span' in row ? labelOf(row.span) : `${row.count} short spans`);

function noteOf(row: Row): string {
  if ('span' in row) return [spanNote(row.span), waitedText(row)].filter((text) => text !== '').join(', ');
  const [first, second, third, ...more] = row.names;
  const named = [first, second, third].flatMap((one) => (one === undefined ? [] : [`${one[0]} × ${one[1]}`]));
  return [
    ...named,
    ...(more.length > 0 ? [`${more.length} other names`] : []),
    `the longest ${duration(row.longest)}`,
  ].join(', ');
}

/** The wait of a step, unless negligible. */
function waitedText({ start, end, waits }: Extract<Row, { span: unknown }>): string {
  const waited = waits.reduce((sum, wait) => sum + wait.end - wait.start, 0);
  return waited <= Math.max(50, (end - start) / 10) ? '' : `waited ${duration(waited)}`;
}

const isOn = (row: Row, path: ReadonlySet<string>): boolean =>
  'span' in row ? path.has(row.span.span_id) : row.ids.some((id) => path.has(id));

function paintOf(row: Row, colors: Colors): (text: string) => string {
  if (!('span' in row)) return colors.dim;
  const { kind, status } = row.span;
  if (status === 'error') return colors.red;
  if (kind === 'wait') return colors.yellow;
  if (kind === 'run' || kind === 'segment') return colors.dim;
  return kind === 'turn' ? colors.cyan : colors.green;
}

export interface WholeTrace {
  run_id: string;
  trace_id: string;
  /** In order of start. */
  spans: TraceSpan[];
}

/** All pages together. */
export async function readWholeTrace(client: Pick<Client, 'readTrace'>, runId: string): Promise<WholeTrace> {
  const byId = new Map<string, TraceSpan>();
  for (let after = 0; ; ) {
    const { run_id, trace_id, spans, next_cursor } = await client.readTrace(runId, { after, limit: 10_000 });
    for (const span of spans) byId.set(span.span_id, span);
    if (next_cursor !== null) after = Number(next_cursor);
    else return { run_id, trace_id, spans: [...byId.values()].sort((a, b) => startOf(a) - startOf(b)) };
  }
}
