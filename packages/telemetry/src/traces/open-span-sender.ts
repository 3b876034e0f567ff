import type { Resource } from '@opentelemetry/resources';
import { ConsoleSpanExporter, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Service } from '../resource.ts';
import type { TraceSettings } from '../settings/traces.ts';
import { openSampler } from './open-sampler.ts';
import { type PostedSpan, spanOfPosted } from './posted-span.ts';
import { openRunSpanExporter } from './run-span-exporter.ts';
import { openSender } from './sender.ts';

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
const openExporters = ({ exporters, protocol }: TraceSettings): Promise<SpanExporter[]> =>
  Promise.all(exporters.map((name) => (name === 'otlp' ? openOtlp(protocol) : new ConsoleSpanExporter())));

async function openOtlp(protocol: TraceSettings['protocol']): Promise<SpanExporter> {
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
