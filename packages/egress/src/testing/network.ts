import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EgressConnection } from '../connection-report.ts';
import { createGuard, type Guard, type Resolve } from '../guard.ts';

/** For tests: real servers on the loopback, names that lead to them, and what was reported. */
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

/** A listener that nothing may reach. */
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

export function names(map: Readonly<Record<string, readonly string[]>>): Resolve {
  return (host) => {
    const addresses = map[host];
    return addresses ? Promise.resolve(addresses) : Promise.reject(new Error(`ENOTFOUND ${host}`));
  };
}

export const LOOPBACK = ['127.0.0.1/32'];

/** Every listed host is on the loopback, which is opened. */
export function loopbackGuard(rules: readonly string[], more: Readonly<Record<string, readonly string[]>> = {}): Guard {
  const resolve: Resolve = (host) => Promise.resolve(more[host] ?? ['127.0.0.1']);
  return createGuard({ rules, allowAddresses: LOOPBACK, resolve });
}

export function recorder() {
  const connections: EgressConnection[] = [];
  return { connections, onConnection: (connection: EgressConnection) => void connections.push(connection) };
}

/** A key and a certificate of its own for the names, valid for a day. */
export function makeCertificate(hosts: readonly string[]): { key: string; cert: string } {
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
