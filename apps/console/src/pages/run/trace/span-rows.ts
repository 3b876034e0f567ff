import type { Span } from './read-trace.ts';

/** What a stretch of time went to. */
export type Spender = 'model' | 'tool' | 'person' | 'queue' | 'workspace' | 'task' | 'other';

/** Names of attributes, from packages/contract/src/telemetry-names.ts: the page has types of the contract alone. */
const waitFor = 'holdpoint.wait.for';
const segmentState = 'holdpoint.segment.state';

function spenderOf({ kind, attributes }: Span): Spender {
  const wait = attributes[waitFor];
  if (kind === 'wait')
    return wait === 'approval' || wait === 'question' ? 'person' : wait === 'task' ? 'task' : 'queue';
  if (kind === 'segment') return attributes[segmentState] === 'paused' ? 'person' : 'other';
  if (kind === 'turn') return 'model';
  if (kind === 'attempt') return 'tool';
  if (kind === 'workspace' || kind === 'publish') return 'workspace';
  return kind === 'task' ? 'task' : 'other';
}

export interface SpanRow {
  span: Span;
  depth: number;
  spender: Spender;
  isCritical: boolean;
}

/** The tree of spans as rows, in order of start. */
export function spanRows(spans: readonly Span[]): SpanRow[] {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  const children = Map.groupBy(spans, ({ parent_id }) => (parent_id !== null && ids.has(parent_id) ? parent_id : null));
  const critical = criticalPath(spans);
  const rows: SpanRow[] = [];
  const visit = (parent: string | null, depth: number): void => {
    for (const span of (children.get(parent) ?? []).toSorted((a, b) => a.from - b.from)) {
      rows.push({ span, depth, spender: spenderOf(span), isCritical: critical.has(span.span_id) });
      visit(span.span_id, depth + 1);
    }
  };
  visit(null, 0);
  return rows;
}

/**
 * The spans on which the end of the run depended: from the end back, always the work with the last end before. The spans around them are on
 * the path, too.
 */
export function criticalPath(spans: readonly Span[]): Set<string> {
  const path = new Set<string>();
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const work = spans
    .filter((span) => isWork(span) && span.to > span.from)
    .toSorted((a, b) => b.to - a.to || a.from - b.from);
  let before = Number.POSITIVE_INFINITY;
  for (const span of work) {
    if (span.to > before) continue;
    before = span.from;
    for (let at: Span | undefined = span; at !== undefined; at = byId.get(at.parent_id ?? '')) path.add(at.span_id);
  }
  return path;
}

/** Spans without a more precise part. A message waits for the run, and not the run for the message. */
const isWork = ({ kind, attributes }: Span): boolean =>
  kind === 'attempt' ||
  kind === 'turn' ||
  kind === 'workspace' ||
  (kind === 'wait' && attributes[waitFor] !== 'message') ||
  (kind === 'segment' && attributes[segmentState] === 'paused');
