import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { logsRequest, metricsRequest, traceRequest } from './otlp-shapes.ts';
import { decode, type MessageShape } from './protobuf.ts';

type Attributes = Record<string, unknown>;

interface Received {
  /** Attributes of the process that sent it. */
  resource: Attributes;
  scope: string;
  attributes: Attributes;
}
export interface ReceivedSpan extends Received {
  trace_id: string;
  span_id: string;
  parent_id: string | undefined;
  trace_state: string | undefined;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Milliseconds since the epoch. */
  start: number;
  end: number;
  status: 'unset' | 'ok' | 'error';
  message: string | undefined;
  events: { name: string; time: number; attributes: Attributes }[];
  links: { trace_id: string; span_id: string; attributes: Attributes }[];
}
interface ReceivedPoint extends Received {
  name: string;
  unit: string | undefined;
  /** The count of a histogram. */
  value: number;
  sum: number | undefined;
}
interface ReceivedLog extends Received {
  body: unknown;
  severity: string | undefined;
  trace_id: string | undefined;
  span_id: string | undefined;
}

/** How it answers. `ok` keeps what it gets; the others keep nothing. */
type Behaviour = 'ok' | 'hang' | 'garbage' | 'drip' | { status: number; retryAfter?: number };

/** An OTLP/HTTP receiver on loopback, for JSON and protobuf, that keeps all that it gets. */
export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly points: ReceivedPoint[];
  readonly logs: ReceivedLog[];
  /** The bodies as they came, decompressed: for a search through every byte. */
  readonly bodies: Buffer[];
  /** Requests, however they were answered. */
  readonly requests: number;
  behave(how: Behaviour): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const kept = { spans: [] as ReceivedSpan[], points: [] as ReceivedPoint[], logs: [] as ReceivedLog[] };
  const bodies: Buffer[] = [];
  let requests = 0;
  let behaviour: Behaviour = 'ok';
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await buffer(request);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    bodies.push(body);
    requests += 1;
    if (behaviour !== 'ok') return misbehave(behaviour, response);
    const isJson = request.headers['content-type']?.startsWith('application/json') === true;
    keep(kept, String(request.url), body, isJson);
    response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' });
    response.end(isJson ? '{}' : '');
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ ...kept, bodies },
    get requests() {
      return requests;
    },
    behave(how) {
      behaviour = how;
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

function misbehave(behaviour: Exclude<Behaviour, 'ok'>, response: ServerResponse): void {
  if (behaviour === 'hang') return;
  if (behaviour === 'garbage') {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(Buffer.alloc(3000, 0xff));
    return;
  }
  if (behaviour === 'drip') {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
    return;
  }
  const { status, retryAfter } = behaviour;
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }).end('no');
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

type Kept = Pick<OtlpReceiver, 'spans' | 'points' | 'logs'>;
/** A message of OTLP in JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a request of another program, whose shape is OTLP's
type Json = any;

const signals: Record<string, [MessageShape, (kept: Kept, body: Json) => void]> = {
  '/v1/traces': [traceRequest, keepSpans],
  '/v1/metrics': [metricsRequest, keepPoints],
  '/v1/logs': [logsRequest, keepLogs],
};

function keep(kept: Kept, path: string, body: Buffer, isJson: boolean): void {
  const signal = signals[path];
  if (signal === undefined) throw new Error(`no signal at ${path}`);
  const [shape, into] = signal;
  into(kept, isJson ? JSON.parse(body.toString()) : decode(body, shape));
}

function keepSpans({ spans }: Kept, body: Json): void {
  for (const { item, ...from } of itemsOf(body, ['resourceSpans', 'scopeSpans', 'spans'])) {
    spans.push({
      ...from,
      attributes: attributesOf(item.attributes),
      ...{ trace_id: item.traceId, span_id: item.spanId, name: item.name, kind: item.kind },
      parent_id: item.parentSpanId || undefined,
      trace_state: item.traceState || undefined,
      ...{ start: msOf(item.startTimeUnixNano), end: msOf(item.endTimeUnixNano) },
      status: (['unset', 'ok', 'error'] as const)[item.status?.code ?? 0] ?? 'unset',
      message: item.status?.message || undefined,
      events: (item.events ?? []).map((event: Json) => ({
        ...{ name: event.name, time: msOf(event.timeUnixNano), attributes: attributesOf(event.attributes) },
      })),
      links: (item.links ?? []).map((link: Json) => ({
        ...{ trace_id: link.traceId, span_id: link.spanId, attributes: attributesOf(link.attributes) },
      })),
    });
  }
}

function keepPoints({ points }: Kept, body: Json): void {
  for (const { item, ...from } of itemsOf(body, ['resourceMetrics', 'scopeMetrics', 'metrics'])) {
    for (const point of (item.gauge ?? item.sum ?? item.histogram)?.dataPoints ?? []) {
      points.push({
        ...from,
        ...{ name: item.name, unit: item.unit, attributes: attributesOf(point.attributes), sum: point.sum },
        value: Number(point.asDouble ?? point.asInt ?? point.count),
      });
    }
  }
}

function keepLogs({ logs }: Kept, body: Json): void {
  for (const { item, ...from } of itemsOf(body, ['resourceLogs', 'scopeLogs', 'logRecords'])) {
    logs.push({
      ...from,
      ...{ attributes: attributesOf(item.attributes), body: readValue(item.body ?? {}), severity: item.severityText },
      ...{ trace_id: item.traceId || undefined, span_id: item.spanId || undefined },
    });
  }
}

function* itemsOf(body: Json, [resources, scopes, items]: [string, string, string]) {
  for (const one of body[resources] ?? []) {
    const resource = attributesOf(one.resource?.attributes);
    for (const scope of one[scopes] ?? []) {
      for (const item of scope[items] ?? []) yield { item: item as Json, resource, scope: String(scope.scope?.name) };
    }
  }
}

const attributesOf = (list: Json[] = []): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, readValue(value ?? {})]));

function readValue(value: Json): unknown {
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(readValue);
  if (value.kvlistValue !== undefined) return attributesOf(value.kvlistValue.values);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? value.bytesValue;
}

const msOf = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1_000_000n);
