import { ConsoleSpanExporter, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../settings/traces.ts';

/** Imports only the configured exporters. */
export const openExporters = ({ exporters, protocol }: TraceSettings): Promise<SpanExporter[]> =>
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
