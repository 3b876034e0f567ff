import type { SpanContext } from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import * as sdkTrace from '@opentelemetry/sdk-trace';
import type { Service } from '../resource.ts';
import type { TraceSettings } from '../settings/traces.ts';
import { openRunSpanExporter, openSender } from './run-span-exporter.ts';

/** An ended span in the form for the thread: without methods, because methods cannot be copied. */
export interface PostedSpan
  extends Omit<sdkTrace.ReadableSpan, 'spanContext' | 'parentSpanContext' | 'links' | 'resource'> {
  context: PlainContext;
  parent: PlainContext | undefined;
  links: (Omit<sdkTrace.ReadableSpan['links'][number], 'context'> & { context: PlainContext })[];
}

type PlainContext = Omit<SpanContext, 'traceState'> & { state: string | undefined };

export function postedSpan(span: sdkTrace.ReadableSpan): PostedSpan {
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
function spanOfPosted({ context, parent, links, ...span }: PostedSpan, resource: Resource): sdkTrace.ReadableSpan {
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

interface Deps {
  service: Service;
  resource: Resource;
  onDropped(spans: number, error: Error | undefined): void;
}

/** Answers of the thread: `spans` sends live spans, `take` sends the spans of runs. Both resolve when the spans are sent or given up. */
export async function openSpanSender({ service, resource, onDropped }: Deps, settings: TraceSettings) {
  const { timeoutMs, per } = settings;
  const exporters = await openExporters(settings);
  const senders = exporters.map((exporter) => openSender(exporter, { timeoutMs, onDropped }));
  const origin = { resource, instrumentationScope: { name: 'holdpoint', version: service.version } };
  return {
    async spans(posted: readonly PostedSpan[]): Promise<void> {
      const spans = posted.map((span) => spanOfPosted(span, resource));
      await Promise.all(senders.map((send) => send(spans)));
    },
    take: openRunSpanExporter({ origin, sampler: openSampler(settings.sampler), senders, per }),
  };
}

/** Imports only the configured exporters. */
const openExporters = ({ exporters, protocol }: TraceSettings): Promise<sdkTrace.SpanExporter[]> =>
  Promise.all(exporters.map((name) => (name === 'otlp' ? openOtlp(protocol) : new sdkTrace.ConsoleSpanExporter())));

async function openOtlp(protocol: TraceSettings['protocol']): Promise<sdkTrace.SpanExporter> {
  switch (protocol) {
    case 'grpc': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
      return new OTLPTraceExporter();
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter();
    }
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter();
    }
    default:
      throw new Error(`no exporter for ${protocol satisfies never}`);
  }
}

/** By ratio a sampler looks at the trace id alone, so a trace is sampled as a whole, in every process. */
export function openSampler({ name, ratio }: TraceSettings['sampler']): sdkTrace.Sampler {
  switch (name) {
    case 'always_on':
      return new sdkTrace.AlwaysOnSampler();
    case 'always_off':
      return new sdkTrace.AlwaysOffSampler();
    case 'traceidratio':
      return new sdkTrace.TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new sdkTrace.ParentBasedSampler({ root: new sdkTrace.TraceIdRatioBasedSampler(ratio) });
    default:
      throw new Error(`no sampler ${name satisfies never}`);
  }
}
