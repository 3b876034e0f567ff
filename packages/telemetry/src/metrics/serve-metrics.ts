import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { ScrapedSetting } from '../settings/metrics.ts';
import type { Metrics } from './metrics.ts';

/** The place of HOLDPOINT_METRICS cannot be used. */
export class MetricsPlaceError extends Error {
  override readonly name = 'MetricsPlaceError';
  readonly code = 'metrics_place_taken';
  readonly next =
    'Name another address in HOLDPOINT_METRICS, or HOST:0 for any free port, and start this process again.';
}

export interface MetricsServer {
  /** For example `http://127.0.0.1:9464/metrics`. */
  address: string;
  close(): Promise<void>;
}

/** Serves `/metrics` for a process without another server. @throws MetricsPlaceError */
export async function serveMetrics(
  { host, port }: Pick<ScrapedSetting, 'host' | 'port'>,
  metrics: Pick<Metrics, 'scrape'>,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    answer(request, metrics, isLoopback(host)).then(
      ({ status, type, body }) => {
        response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' });
        response.end(request.method === 'HEAD' ? undefined : body);
      },
      () => fail(response),
    );
  });
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(placeError(host, port, cause)));
    server.listen({ host, port }, resolve);
  });
  server.unref();
  const at = server.address() as AddressInfo;
  return {
    address: `http://${isIP(at.address) === 6 ? `[${at.address}]` : at.address}:${at.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, metrics: Pick<Metrics, 'scrape'>, isLocal: boolean) {
  const refusal = (status: number, body: string) => ({ status, type: 'text/plain; charset=utf-8', body: `${body}\n` });
  // A page in a browser of this machine can name any host for a loopback address.
  if (isLocal && !isLocalName(request.headers.host)) return refusal(403, 'this server answers loopback names only');
  if (request.url?.split('?')[0] !== '/metrics') return refusal(404, 'the metrics are at /metrics');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, 'the metrics are read by GET');
  const { contentType: type, body } = await metrics.scrape(request.headers.accept);
  return { status: 200, type, body };
}

function fail(response: ServerResponse): void {
  response.writeHead(500, { 'content-type': 'text/plain' });
  response.end('the metrics could not be read\n');
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

function isLocalName(header: string | undefined): boolean {
  const name = (header ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return isLoopback(name);
}

function placeError(host: string, port: number, cause: NodeJS.ErrnoException): MetricsPlaceError {
  const why = cause.code === 'EADDRINUSE' ? 'another process has this port' : cause.message;
  return new MetricsPlaceError(`HOLDPOINT_METRICS: the metrics cannot be served at ${host}:${port}: ${why}.`, {
    cause,
  });
}
