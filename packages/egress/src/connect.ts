import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
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
