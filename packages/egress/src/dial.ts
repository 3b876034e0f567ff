import type { Socket } from 'node:net';
import { connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';
import { connectPinned } from './connect.ts';
import { codeOf, type EgressConnection, verdictOf } from './connection-report.ts';
import { EgressError } from './errors.ts';
import type { Guard } from './guard.ts';

export interface DialDeps {
  guard: Guard;
  onConnection(connection: EgressConnection): void;
  /** PEM, beside the system's. */
  certificates: readonly string[];
  connectMs: number;
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * Judges, connects, and for `secure` makes TLS with the host's name. The connection is reported when it ends, an attempt at once.
 *
 * Throws what `Guard.check` and `connectPinned` throw, and ENETWORK when TLS fails.
 */
export async function dial(
  deps: DialDeps,
  target: { host: string; port: number; secure: boolean },
  signal: AbortSignal,
): Promise<Socket> {
  const at = deps.now();
  const report = (end: Pick<EgressConnection, 'verdict' | 'code' | 'address'>, socket?: Socket) =>
    deps.onConnection({
      ...{ host: target.host, port: target.port },
      ...end,
      ...{ bytes_up: socket?.bytesWritten ?? 0, bytes_down: socket?.bytesRead ?? 0 },
      ...{ ms: deps.now() - at, at },
    });
  const { socket, address } = await connectTarget(deps, target, signal).catch((error: unknown) => {
    report({ verdict: verdictOf(error), code: codeOf(error) });
    throw error;
  });
  const outer = target.secure ? encrypt(socket, target.host, deps.certificates) : socket;
  let code: string | null = null;
  outer.once('error', (error) => {
    // undici ends a connection that has served its purpose with an error of its own
    code = 'code' in error && String(error.code).startsWith('UND_ERR_') ? null : codeOf(error);
  });
  outer.once('close', () => report({ verdict: 'allowed', code, address }, outer));
  if (outer !== socket) await secured(outer as TLSSocket, target.host, signal);
  return outer;
}

async function connectTarget(deps: DialDeps, target: { host: string; port: number }, signal: AbortSignal) {
  const pinned = await deps.guard.check(target, signal);
  return connectPinned({ guard: deps.guard, timeoutMs: deps.connectMs, signal }, pinned);
}

function encrypt(socket: Socket, host: string, certificates: readonly string[]): TLSSocket {
  const isAddress = host.includes(':') || /^[\d.]+$/.test(host);
  return connectTls({
    socket,
    host, // whom the certificate must name
    servername: isAddress ? '' : host,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
    ...(certificates.length > 0 ? { ca: [...getCACertificates('default'), ...certificates] } : {}),
  });
}

function secured(socket: TLSSocket, host: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => {
    socket.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const fail = (cause?: Error) => {
    const message = `No secure connection to ${host} could be made: ${cause?.message ?? 'it ended early'}.`;
    reject(
      new EgressError('ENETWORK', message, { next: 'Check that the host speaks TLS with a valid certificate.', cause }),
    );
  };
  const onClose = () => fail();
  socket.once('secureConnect', resolve);
  socket.once('error', fail);
  socket.once('close', onClose);
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort);
    socket.off('error', fail);
    socket.off('close', onClose);
  });
}
