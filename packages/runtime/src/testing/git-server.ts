import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type Certificate, listen, makeCertificate, stop } from '@holdpoint/egress/testing';

/** A real git server on the loopback: `git http-backend` behind TLS. */
export interface GitServer extends AsyncDisposable {
  port: number;
  certificate: Certificate;
  url(repository: string): string;
  /** Every request: method, path, and whether it had the right password. */
  requests: { method: string; path: string; authorized: boolean }[];
  /** Asked of every request but those to `public/`; undefined: of none. */
  password: string | undefined;
  /** Where requests to a path are sent instead. */
  redirects: Map<string, string>;
  /** Answers a request in git's place. @returns whether it did */
  answers: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called with every request before git gets it. */
  onRequest: (request: IncomingMessage) => void;
}

/** @param root a folder of bare repositories */
export async function startGitServer(root: string, { password }: { password?: string } = {}): Promise<GitServer> {
  const certificate = makeCertificate(['localhost']);
  const server: Server = createServer(certificate, (request, response) => serve(state, root, request, response));
  const port = await listen(server);
  const state: GitServer = {
    ...{ port, certificate, password, requests: [], redirects: new Map(), onRequest: () => {} },
    answers: () => false,
    url: (repository) => `https://localhost:${port}/${repository}`,
    [Symbol.asyncDispose]: () => stop(server),
  };
  return state;
}

function serve(state: GitServer, root: string, request: IncomingMessage, response: ServerResponse): void {
  if (state.answers(request, response)) return;
  const url = new URL(request.url ?? '/', 'https://localhost');
  const [, credentials = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
  const given = Buffer.from(credentials, 'base64').toString().split(':').slice(1).join(':');
  const authorized = state.password === undefined || given === state.password;
  state.requests.push({ method: request.method ?? '', path: url.pathname, authorized });
  state.onRequest(request);
  const [, first = ''] = url.pathname.split('/');
  const to = state.redirects.get(first);
  if (to !== undefined) {
    response.writeHead(301, { location: `${to}${url.pathname.slice(first.length + 1)}${url.search}` }).end();
  } else if (!authorized && first !== 'public') {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  } else answer(root, { request, response, url });
}

/** Runs the program as a web server does, by CGI. */
function answer(root: string, input: { request: IncomingMessage; response: ServerResponse; url: URL }): void {
  const { request, response, url } = input;
  const backend = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
    env: {
      ...{ PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_HTTP_EXPORT_ALL: '1' },
      ...{ GIT_PROJECT_ROOT: root, PATH_INFO: url.pathname, QUERY_STRING: url.search.slice(1), REMOTE_USER: 'user' },
      ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers['content-type'], REMOTE_ADDR: '127.0.0.1' },
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  backend.stdin.on('error', () => {});
  request.pipe(backend.stdin);
  response.on('close', () => backend.kill());
  let head: Buffer | undefined = Buffer.alloc(0);
  backend.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const fields = head.toString('latin1', 0, end).split('\r\n');
    const headers = fields.map((field) => /^([^:]+): *(.*)$/.exec(field)?.slice(1) ?? []);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    const kept = headers.filter(([name]) => name !== 'Status').map(([name = '', value = '']) => [name, value]);
    response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(kept));
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  backend.stdout.on('end', () => response.end());
}
