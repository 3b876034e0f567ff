import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

/** The answer for a path, or a handler that answers itself or never. */
type Answer =
  | { status?: number; type?: string; headers?: Record<string, string>; body?: string | Buffer }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface WebServer {
  /** Without a trailing slash. */
  origin: string;
  /** host:port */
  host: string;
  serve(path: string, answer: Answer): void;
}

/** A web server on loopback, one per test file. */
export function useWebServer(): () => WebServer {
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    const answer = answers.get(new URL(request.url ?? '', 'http://localhost').pathname) ?? { status: 404 };
    if (typeof answer === 'function') return answer(request, response);
    const type = answer.type === undefined ? {} : { 'content-type': answer.type };
    response.writeHead(answer.status ?? 200, { ...type, ...answer.headers }).end(answer.body);
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return () => {
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { host, origin: `http://${host}`, serve: (path, answer) => void answers.set(path, answer) };
  };
}
