import type { SpanContext } from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** An ended span in the form for the thread: without methods, because methods cannot be copied. */
export interface PostedSpan extends Omit<ReadableSpan, 'spanContext' | 'parentSpanContext' | 'links' | 'resource'> {
  context: PlainContext;
  parent: PlainContext | undefined;
  links: (Omit<ReadableSpan['links'][number], 'context'> & { context: PlainContext })[];
}

type PlainContext = Omit<SpanContext, 'traceState'> & { state: string | undefined };

export function postedSpan(span: ReadableSpan): PostedSpan {
  const { name, kind, startTime, endTime, duration, ended, status, attributes, events, instrumentationScope } = span;
  const { droppedAttributesCount, droppedEventsCount, droppedLinksCount } = span;
  return {
    ...{ name, kind, startTime, endTime, duration, ended, status, attributes, events, instrumentationScope },
    ...{ droppedAttributesCount, droppedEventsCount, droppedLinksCount },
    links: span.links.map((link) => ({ ...link, context: plain(link.context) })),
    context: plain(span.spanContext()),
    parent: span.parentSpanContext && plain(span.parentSpanContext),
  };
}

/** @param resource the process's resource, the same in all spans */
export function spanOfPosted({ context, parent, links, ...span }: PostedSpan, resource: Resource): ReadableSpan {
  const own = whole(context);
  return {
    ...span,
    resource,
    spanContext: () => own,
    ...(parent && { parentSpanContext: whole(parent) }),
    links: links.map((link) => ({ ...link, context: whole(link.context) })),
  };
}

const plain = ({ traceId, spanId, traceFlags, isRemote, traceState }: SpanContext): PlainContext => ({
  ...{ traceId, spanId, traceFlags, isRemote },
  state: traceState?.serialize(),
});

const whole = ({ state, ...context }: PlainContext): SpanContext => ({
  ...context,
  ...(state !== undefined && { traceState: new TraceState(state) }),
});
