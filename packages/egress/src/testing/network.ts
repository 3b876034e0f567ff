import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@holdpoint/contract';
import { expect } from 'vitest';
import { createGuard, type Guard, type Resolve } from '../guard.ts';

export const loopback = ['127.0.0.1/32'];

/** Every listed host resolves to the loopback, which is opened. */
export function loopbackGuard(rules: readonly string[], more: Readonly<Record<string, readonly string[]>> = {}): Guard {
  const resolve: Resolve = (host) => Promise.resolve(more[host] ?? ['127.0.0.1']);
  return createGuard({ rules, allowAddresses: loopback, resolve });
}

/** Records connections in the order in which they end. `at` is when each began. */
export function recorder() {
  const connections: (Connection & { at: number })[] = [];
  const onConnection = (connection: Connection) =>
    void connections.push({ ...connection, at: Date.now() - connection.duration_ms });
  return { connections, onConnection };
}

/** Expects that a call fails with a code. */
export const rejects = (call: Promise<unknown>, code: string, more: object = {}) =>
  expect(call).rejects.toMatchObject({ code, ...more });

/** Real servers on the loopback. Each function returns its port; `close` stops all of them. */
export function loopbackServers() {
  const servers: Server[] = [];
  const start = (server: Server) => {
    servers.push(server);
    return listen(server);
  };
  return {
    http: (handler: RequestListener) => start(createHttpServer(handler)),
    https: (certificate: Certificate, handler: RequestListener) =>
      start(createTlsServer(certificate, handler).on('tlsClientError', () => {})),
    tcp: (handler: (socket: Socket) => void, options: ServerOpts = {}) =>
      start(createServer(options, (socket) => handler(socket.on('error', () => {})))),
    start,
    close: () => Promise.all(servers.splice(0).map(stop)),
  };
}

export async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export function stop(server: Server): Promise<void> {
  if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** A listener that no connection may reach. */
export async function openCanary(host = '127.0.0.1', port = 0) {
  let connections = 0;
  const server = createServer((socket: Socket) => {
    connections++;
    socket.on('error', () => {});
    socket.destroy();
  });
  const listening = await listen(server, host, port);
  return { port: listening, connections: () => connections, close: () => stop(server) };
}

/** All bytes that arrive on a socket until it closes, as Latin-1. */
export function readAll(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

export interface Certificate {
  key: string;
  cert: string;
}

/** A key and a self-signed certificate for the names, valid for a day. */
export function makeCertificate(hosts: readonly string[]): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-certificate-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  try {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
        ...['-subj', `/CN=${hosts[0]}`, '-addext', `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`],
        ...['-keyout', key, '-out', cert],
      ],
      { stdio: 'pipe' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
