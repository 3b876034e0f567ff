import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { bash, plan, startSystem, succeed } from '../harness/index.ts';

test('on request, queue and job spans reach an OTLP endpoint; API and worker share one trace', async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url?.endsWith('/v1/traces')) bodies.push(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((ready) => collector.listen(0, '127.0.0.1', ready));
  const { port } = collector.address() as AddressInfo;
  try {
    await using system = await startSystem({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      HOLDPOINT_TRACE_QUEUES: 'on',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    });
    const worker = await system.startWorker();
    await succeed(system.client, { plan: plan([bash('echo traced')]) });
    await worker.signal('SIGTERM');
    await system.api.kill('SIGTERM');
    expect(await readFile(`${system.directory}/api.log`, 'utf8')).not.toContain('"level":50');
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
  const spans = bodies.flatMap((body) => spansOf(JSON.parse(body)));
  const services = (traceId: string) => new Set(spans.filter((s) => s.traceId === traceId).map((s) => s.service));
  const added = spans.find((span) => span.service === 'holdpoint-api' && span.name.includes('turns'));
  expect(added, spans.map((span) => `${span.service}: ${span.name}`).join(', ')).toBeDefined();
  expect(services(added?.traceId ?? '')).toEqual(new Set(['holdpoint-api', 'holdpoint-worker']));
});

interface Exported {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { name: string; traceId: string }[] }[];
  }[];
}

const spansOf = ({ resourceSpans }: Exported) =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find((attribute) => attribute.key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map(({ name, traceId }) => ({ service, name, traceId })));
  });
