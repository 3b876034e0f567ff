import { attribute, genAi, genAiOperation } from './telemetry-names.ts';
import type { TraceSpan } from './trace.ts';

export const startOf = ({ start }: TraceSpan): number => Date.parse(start);
/** An open span has lasted until now. */
export const endOf = ({ start, end }: TraceSpan, now: number): number =>
  end === null ? Math.max(now, Date.parse(start)) : Date.parse(end);
export const tookOf = (span: TraceSpan, now: number): number => endOf(span, now) - startOf(span);

/** The name of a span for people, for a turn with the number. */
export const labelOf = ({ kind, name, attributes }: TraceSpan): string =>
  kind === 'iteration' ? `${name} ${attributes[attribute.turn]}` : name;

/** The spans below each span. A span whose parent is not among the spans is below null. */
export function byParent(spans: readonly TraceSpan[]): Map<string | null, TraceSpan[]> {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  return Map.groupBy(spans, ({ parent_id }) => (parent_id !== null && ids.has(parent_id) ? parent_id : null));
}

/** The reasons of a run's wait, the most specific first: of several simultaneous reasons, the first counts. */
export const spenders = ['tool', 'model', 'workspace', 'task', 'queue', 'person', 'caller', 'other'] as const;
export type Spender = (typeof spenders)[number];
type TimeSpent = Record<Spender, number>;

/** Where the wall time of a run went, in milliseconds. The parts add up to the whole. */
export function timeSpent(spans: readonly TraceSpan[], now: number): { total: number; spent: TimeSpent } {
  const runs = spans.filter(({ kind }) => kind === 'run');
  const total = runs.reduce((sum, run) => sum + tookOf(run, now), 0);
  const spent = Object.fromEntries(spenders.map((name) => [name, 0])) as TimeSpent;
  const going = { ...spent };
  let alive = 0;
  let at = 0;
  for (const { time, who, by } of changesOf(spans, now)) {
    if (alive > 0) spent[spenders.find((name) => going[name] > 0) ?? 'other'] += time - at;
    at = time;
    if (who === 'run') alive += by;
    else going[who] += by;
  }
  return { total, spent };
}

interface Change {
  time: number;
  who: Spender | 'run';
  by: 1 | -1;
}

function changesOf(spans: readonly TraceSpan[], now: number): Change[] {
  const waiting = new Map(
    spans.flatMap((span) => (span.kind === 'task' ? [[taskOf(span), waitsOf(span, now)] as const] : [])),
  );
  const changes = spans.flatMap((span): Change[] => {
    const who = span.kind === 'run' ? 'run' : spenderOf(span);
    if (who === undefined) return [];
    const waits = (who === 'task' && waiting.get(taskOf(span))) || [];
    return [
      { time: startOf(span), who, by: 1 },
      // While a sub-agent waits for a person, its task and the call behind the task wait for the person, too.
      ...waits.flatMap((time) => waitsWithin(time, span, now)),
      { time: endOf(span, now), who, by: -1 },
    ];
  });
  return changes.sort((a, b) => a.time - b.time);
}

const taskOf = ({ attributes }: TraceSpan): string => String(attributes[attribute.taskId]);

/** A sub-agent's waits for a person: from each of its reports to the next event of its continuation. */
function waitsOf(task: TraceSpan, now: number): [from: number, to: number][] {
  const waits: [number, number][] = [];
  let since: number | undefined;
  for (const { name, time } of task.events) {
    if (name === 'sub-agent waits') since ??= Date.parse(time);
    if (name !== 'sub-agent continues' || since === undefined) continue;
    waits.push([since, Date.parse(time)]);
    since = undefined;
  }
  return since === undefined ? waits : [...waits, [since, endOf(task, now)]];
}

/** Within this time, the span of a task counts for a person. */
function waitsWithin([since, until]: readonly [number, number], span: TraceSpan, now: number): Change[] {
  const from = Math.max(since, startOf(span));
  const to = Math.min(until, endOf(span, now));
  if (from >= to) return [];
  return [
    { time: from, who: 'task', by: -1 },
    { time: from, who: 'person', by: 1 },
    { time: to, who: 'person', by: -1 },
    { time: to, who: 'task', by: 1 },
  ];
}

/** Undefined: other spans cover the time. */
export function spenderOf({ kind, attributes }: TraceSpan): Spender | undefined {
  switch (kind) {
    case 'attempt':
      return 'tool';
    case 'turn':
      return attributes[genAi.operation] === genAiOperation.chat ? 'model' : undefined;
    case 'workspace':
      return 'workspace';
    case 'task':
      return 'task';
    case 'wait':
      return waits[String(attributes[attribute.waitFor])];
    case 'segment':
      return attributes[attribute.segmentState] === 'paused' ? 'person' : undefined;
    case 'run':
    case 'iteration':
    case 'step':
    case 'publish':
      return undefined;
    default:
      return kind satisfies never;
  }
}

const waits: Partial<Record<string, Spender>> = {
  queue: 'queue',
  approval: 'person',
  question: 'person',
  task: 'task',
  calls: 'caller',
  model: 'model',
};

/**
 * The ids of the spans on which the end of the run depended: from the end back, always the span with the last end before. A shorter span on
 * the path means an earlier end of the run. The spans around them are on the path, too.
 */
export function criticalPath(spans: readonly TraceSpan[], now: number): Set<string> {
  const path = new Set<string>();
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const candidates = spans
    .filter((span) => isWork(span) && endOf(span, now) > startOf(span))
    .sort((a, b) => endOf(b, now) - endOf(a, now) || startOf(b) - startOf(a));
  let before = Number.POSITIVE_INFINITY;
  for (const span of candidates) {
    if (endOf(span, now) > before) continue;
    before = startOf(span);
    for (let at: TraceSpan | undefined = span; at !== undefined; ) {
      path.add(at.span_id);
      at = at.parent_id === null ? undefined : byId.get(at.parent_id);
    }
  }
  return path;
}

/** Spans without a more precise part. A message waits for the run, and not the run for the message. */
const isWork = ({ kind, attributes }: TraceSpan): boolean =>
  kind === 'attempt' ||
  kind === 'turn' ||
  kind === 'workspace' ||
  (kind === 'wait' && attributes[attribute.waitFor] !== 'message') ||
  (kind === 'segment' && attributes[attribute.segmentState] === 'paused');
