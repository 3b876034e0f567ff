import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Route } from '../case.ts';
import { generate } from '../generate.ts';

export interface Stub extends AsyncDisposable {
  port: number;
}
export interface HttpStub extends Stub {
  /** Requests so far, requests without a route included. */
  hits(): number;
  /** The answers from now on. */
  serve(routes: readonly Route[]): void;
}

/** A server on loopback with the answers of a case, and 404 otherwise. */
export async function openHttpStub(): Promise<HttpStub> {
  let hits = 0;
  let routes: readonly Route[] = [];
  const closing = new AbortController();
  const server = createServer(async (request, response) => {
    hits += 1;
    const route = routes.find((one) => isFor(one, request));
    if (route?.delay_ms) await pause(route.delay_ms, undefined, { signal: closing.signal }).catch(() => undefined);
    // The caller may have given up: its time limit is over.
    await answer(request, response, route).catch(() => response.destroy());
  });
  return {
    ...(await listen(server, () => closing.abort())),
    hits: () => hits,
    serve: (wanted) => {
      routes = wanted;
    },
  };
}

/** The query of a request counts when the route has a query. */
function isFor({ path, method }: Route, { url = '/', method: asked }: IncomingMessage): boolean {
  const isPath = path === url || path === url.split('?')[0];
  return isPath && (method === undefined || method.toUpperCase() === asked);
}

async function answer(request: IncomingMessage, response: ServerResponse, route: Route | undefined): Promise<void> {
  const received = await bodyOf(request);
  if (!route) return void response.writeHead(404).end();
  const { status = 200, headers = {}, echo = false } = route;
  if (!echo) return void response.writeHead(status, headers).end(contentOf(route.body));
  const seen = { method: request.method, headers: request.headers, body: received.toString() };
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(seen));
}

function contentOf(body: Route['body'] = ''): string | Buffer {
  if (typeof body === 'string') return body;
  if ('base64' in body) return Buffer.from(body.base64, 'base64');
  if ('generator' in body) return generate(body.generator);
  return generate('$gen' in body ? body.$gen : body);
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function listen(server: Server, onClose: () => void = () => {}): Promise<Stub> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      onClose();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
