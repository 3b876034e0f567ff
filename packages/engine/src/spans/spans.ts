import type { TraceSpan } from '@holdpoint/contract';
import { attribute, spanName } from '@holdpoint/contract/names';
import { isoOf } from '../domain/iso-time.ts';
import { contentNames } from './content.ts';
import { type OpenSpan, spanIdOf, spanKeys, type TraceState } from './ids.ts';

export type Attributes = TraceSpan['attributes'];
type Given = Record<string, Attributes[string] | undefined>;
type Link = TraceSpan['links'][number];

/** A model names unknown tools, and its name for a tool may have any length. */
const longestName = 100;
/** Codes and names of callers are far shorter. */
const longestText = 200;
/** OpenTelemetry's default for events and links. */
const mostEvents = 128;

/** The attributes of a span. */
export const attributesOf = (trace: TraceState, given: Given): Attributes =>
  assign({ [attribute.runId]: trace.runId }, given);

/** Copies the attributes that have a value. */
function assign(attributes: Attributes, given: Given): Attributes {
  for (const name in given) {
    const value = given[name];
    if (value === undefined) continue;
    const isLong = typeof value === 'string' && value.length > longestText && !contentNames.has(name);
    attributes[name] = isLong ? value.slice(0, longestText) : value;
  }
  return attributes;
}

export interface NewSpan {
  kind: TraceSpan['kind'];
  name: string;
  /** @default the segment, or the run when the span crosses segments */
  parent?: string | undefined;
  /** Milliseconds since the epoch, clamped to the time between the parent's start and now. @default now */
  start?: number | undefined;
  attributes?: Given;
  links?: Link[];
}

export function open(trace: TraceState, key: string, span: NewSpan): void {
  const { kind, name, parent = null, start = trace.now, attributes = {}, links = [] } = span;
  const parentStart = (parent === null ? undefined : trace.open.get(parent)?.start) ?? lifeStart(trace);
  trace.open.set(key, {
    ...{ id: spanIdOf(trace.runId, key), kind, parent, links, events: [], segment: segmentOf(trace, kind, parent) },
    name: name.slice(0, longestName),
    start: Math.min(Math.max(start, parentStart), trace.now),
    attributes: attributesOf(trace, attributes),
  });
}

function segmentOf(trace: TraceState, kind: TraceSpan['kind'], parent: string | null): number {
  if (kind === 'run') return 0;
  const above = parent === null ? undefined : trace.open.get(parent);
  if (above !== undefined && above.kind !== 'run') return above.segment;
  return trace.isAlive ? trace.segments : 0;
}

/** A span begins no earlier than its run's life. After the end of a run, a span has no earliest start. */
const lifeStart = (trace: TraceState): number =>
  (trace.isAlive ? trace.open.get(spanKeys.run(trace.life))?.start : undefined) ?? Number.NEGATIVE_INFINITY;

export interface SpanEnd {
  /** @default unset */
  status?: TraceSpan['status'];
  /** The stable code of an error. */
  code?: string | undefined;
  attributes?: Given;
}

/** Ends a span and the open spans below the span. No-op for a span that is not open. */
export function close(trace: TraceState, key: string, end: SpanEnd = {}): void {
  const span = trace.open.get(key);
  if (span === undefined) return;
  for (const [inner, { parent }] of trace.open) if (parent === key) close(trace, inner, { status: 'unset' });
  trace.open.delete(key);
  const { status = 'unset', code, attributes = {} } = end;
  assign(span.attributes, attributes);
  const closed = record(trace, span, { end: trace.now, status, message: code?.slice(0, longestText) });
  if (closed.parent_id === trace.open.get(spanKeys.segment(trace.segments))?.id) trace.segmentIsUsed = true;
  trace.closed.push(closed);
}

/** Adds a span together with its end. */
export function add(trace: TraceState, key: string, span: NewSpan, end: SpanEnd = {}): void {
  open(trace, key, span);
  close(trace, key, end);
}

/** Adds a wait for a worker that ended before now. */
export function waited(
  trace: TraceState,
  seq: number,
  { from, to, parent, attributes }: { from: number; to: number; parent?: string; attributes?: Record<string, number> },
): void {
  const { now } = trace;
  trace.now = to;
  const all = { [attribute.waitFor]: 'queue', ...attributes };
  const span = { kind: 'wait' as const, name: spanName.wait('queue'), start: from, parent, attributes: all };
  add(trace, spanKeys.at('wait', seq), span);
  trace.now = now;
}

/** Sets attributes of an open span. */
export function set(trace: TraceState, key: string, attributes: Given): void {
  const span = trace.open.get(key);
  if (span !== undefined) assign(span.attributes, attributes);
}

/** Adds to counts of an open span. */
export function count(trace: TraceState, key: string, counts: Record<string, number>): void {
  const span = trace.open.get(key);
  if (span === undefined) return;
  for (const [name, by] of Object.entries(counts)) span.attributes[name] = Number(span.attributes[name] ?? 0) + by;
}

/** An event during a span. Events after the first 128 are left out. */
export function note(trace: TraceState, key: string, name: string, attributes: Given = {}): void {
  const events = trace.open.get(key)?.events;
  if (events === undefined || events.length >= mostEvents) return;
  events.push({ name, time: isoOf(trace.now), attributes: assign({}, attributes) });
}

export function link(trace: TraceState, key: string, to: Link): void {
  const links = trace.open.get(key)?.links;
  if (links !== undefined && links.length < mostEvents) links.push(to);
}

/** A link to another span of this trace. */
export const linkTo = (trace: TraceState, key: string, type: string) => ({
  trace_id: trace.traceId,
  span_id: spanIdOf(trace.runId, key),
  attributes: { [attribute.linkType]: type },
});

/** The id of the present segment's span, or of the run's span, or of the caller's span. */
function home(trace: TraceState, start: number): string | null {
  if (!trace.isAlive) return trace.remoteParent;
  const segment = trace.open.get(spanKeys.segment(trace.segments));
  return segment === undefined || start < segment.start ? idOf(trace, spanKeys.run(trace.life)) : segment.id;
}

/** Takes the id of an open span: computing an id costs more than the rest of a span. */
const idOf = (trace: TraceState, key: string): string => trace.open.get(key)?.id ?? spanIdOf(trace.runId, key);

/** @param end undefined: the span is still open. Otherwise the recorded span shares the attributes with the given span */
export function record(
  trace: TraceState,
  span: OpenSpan,
  { end, status, message }: { end: number | undefined; status: TraceSpan['status']; message?: string | undefined },
): TraceSpan {
  const { kind, name, start, parent, attributes, events, links } = span;
  const recorded: TraceSpan = {
    span_id: span.id,
    parent_id: kind === 'run' ? trace.remoteParent : parent === null ? home(trace, start) : idOf(trace, parent),
    ...{ kind, name },
    start: isoOf(start),
    end: end === undefined ? null : isoOf(end),
    ...{ status, message, events, links },
    attributes: end === undefined ? { ...attributes } : attributes,
  };
  trace.segmentOf.set(recorded, span.segment);
  return recorded;
}
