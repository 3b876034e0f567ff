import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates } from 'node:tls';
import type { Connection } from '@holdpoint/contract';
import { EgressError } from './errors.ts';
import { type Guard, wordsOf } from './guard.ts';
import { deadline } from './limits.ts';

/** With more addresses a dead host only takes longer. */
const maxAddresses = 3;

export interface ConnectOptions {
  guard: Guard;
  /** To resolve the name and to try all addresses. */
  connectMs: number;
  /** Keep a direction open when the other direction ends. @default false */
  allowHalfOpen?: boolean;
  signal: AbortSignal;
}

/**
 * The only way out of this package: the fetch and the proxy both connect here. Connects to exactly the addresses judged by the guard, in sequence, and judges the address of the connected socket again.
 *
 * Throws the errors of `Guard.check`, and `EgressError` ENETWORK, ETIMEOUT, EADDRESSREFUSED; the reason of an aborted signal.
 */
export async function connectGuarded(
  { guard, connectMs, allowHalfOpen, signal }: ConnectOptions,
  target: { host: string; port: number },
): Promise<{ socket: Socket; address: string }> {
  using total = deadline(connectMs, `${target.host} could not be reached in ${connectMs} ms.`);
  const within = AbortSignal.any([signal, total.signal]);
  const pinned = await guard.check(target, within);
  const { host, port } = pinned;
  const addresses = pinned.addresses.slice(0, maxAddresses);
  let failure: unknown;
  for (const address of addresses) {
    const ms = Math.ceil(connectMs / addresses.length);
    using share = deadline(ms, `${host}:${port} did not accept a connection in ${ms} ms.`);
    const socket = connect({ host: address, port, allowHalfOpen, noDelay: true }); // a literal: no second look-up
    try {
      await once(socket, 'connect', { signal: AbortSignal.any([within, share.signal]) });
      return { socket, address: guard.confirm(pinned, socket.remoteAddress) };
    } catch (error) {
      socket.destroy();
      within.throwIfAborted();
      if (error instanceof EgressError) throw error;
      failure = share.signal.aborted ? share.signal.reason : error;
    }
  }
  if (failure instanceof EgressError) throw failure;
  throw new EgressError('ENETWORK', `${host}:${port} could not be reached: ${wordsOf(failure)}.`, {
    next: 'Check the host and port, or try again later.',
    cause: failure,
  });
}

/**
 * Connects a hop of a fetch, over TLS for `secure`, and reports the connection at its end.
 *
 * Throws the errors of `connectGuarded`, and ENETWORK when TLS fails.
 *
 * @returns `close` resolves when the connection has been reported
 */
export async function openConnection(
  deps: Omit<ConnectOptions, 'signal'> & {
    onConnection(connection: Connection): void;
    authorities?: readonly string[];
  },
  { secure, ...target }: { host: string; port: number; secure: boolean },
  signal: AbortSignal,
): Promise<{ socket: Socket; close(): Promise<void> }> {
  const at = Date.now();
  const { socket: plain, address } = await connectGuarded({ ...deps, signal }, target).catch((error: unknown) => {
    deps.onConnection(reportOf({ target, end: failedEnd(error), socket: null, at }));
    throw error;
  });
  const socket = secure ? encrypt(plain, target.host, deps.authorities) : plain;
  const closed = Promise.withResolvers<void>();
  let reason: string | undefined;
  socket.once('error', (error) => {
    // undici ends an unneeded connection with an error of its own.
    reason = 'code' in error && String(error.code).startsWith('UND_ERR_') ? undefined : reasonOf(error);
  });
  socket.once('close', () => {
    deps.onConnection(reportOf({ target, end: { verdict: 'allowed', reason, address }, socket, at }));
    closed.resolve();
  });
  const close = () => {
    socket.destroy();
    return closed.promise;
  };
  if (secure) {
    await once(socket, 'secureConnect', { signal }).catch(async (cause: Error) => {
      await close();
      signal.throwIfAborted();
      throw new EgressError('ENETWORK', `No secure connection to ${target.host} could be made: ${wordsOf(cause)}.`, {
        next: 'Check that the host speaks TLS with a valid certificate.',
        cause,
      });
    });
  }
  return { socket, close };
}

/**
 * TLS to a host whose certificate must have its name.
 * @param authorities trusted certificates in PEM, in addition to those of this process
 */
export function encrypt(socket: Socket, host: string, authorities: readonly string[] = []): Socket {
  return connectTls({
    socket,
    ca: authorities.length === 0 ? undefined : [...getCACertificates('default'), ...authorities],
    host, // the name required in the certificate
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // also when NODE_TLS_REJECT_UNAUTHORIZED is 0
  });
}

/** How a connection ended. */
export type ConnectionEnd = Pick<Connection, 'verdict' | 'reason' | 'address' | 'detail'>;

/** @param input.at the beginning, in milliseconds since 1970 @param input.socket null when no connection was made */
export function reportOf(input: {
  target: { host: string; port: number };
  end: ConnectionEnd;
  socket: Socket | null;
  at: number;
}): Connection {
  const { target, end, socket, at } = input;
  const bytes = { bytes_up: socket?.bytesWritten ?? 0, bytes_down: socket?.bytesRead ?? 0 };
  return { ...target, ...end, ...bytes, duration_ms: Date.now() - at };
}

/** Describes an attempt without a connection. */
export function failedEnd(error: unknown): ConnectionEnd {
  const reason = reasonOf(error);
  const failed = !(error instanceof EgressError) || reason === 'ENETWORK' || reason === 'ETIMEOUT';
  const detail = error instanceof EgressError ? `${error.message} ${error.next}` : undefined;
  return { verdict: failed ? 'failed' : 'refused', reason, detail };
}

function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.code;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return system && !/ABORT/.test(String(error.code)) ? 'ENETWORK' : 'EABORTED';
}
