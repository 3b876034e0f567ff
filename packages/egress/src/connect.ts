import { connect, isIPv6, type Socket } from 'node:net';
import { EgressError } from './errors.ts';
import type { Guard, Pinned } from './guard.ts';

/** More would only make a dead host take longer. */
const MAX_ADDRESSES = 3;

export interface ConnectOptions {
  guard: Guard;
  /** For all addresses together, in milliseconds. */
  timeoutMs: number;
  /** Keep the other direction open when one side has ended. @default false */
  allowHalfOpen?: boolean;
  signal: AbortSignal;
}

/**
 * Connects to exactly the addresses that were judged, one after the other, and looks again at the one that answered.
 *
 * Throws `EgressError` ENETWORK, ETIMEOUT, EADDRESSREFUSED; the signal's reason when it aborts.
 */
export async function connectPinned(
  options: ConnectOptions,
  pinned: Pinned,
): Promise<{ socket: Socket; address: string }> {
  const addresses = pinned.addresses.slice(0, MAX_ADDRESSES);
  let failure: unknown;
  for (const address of addresses) {
    options.signal.throwIfAborted();
    let socket: Socket;
    try {
      socket = await connectTo(options, { ...pinned, address }, options.timeoutMs / addresses.length);
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      failure = error;
      continue;
    }
    try {
      return { socket, address: options.guard.confirm(pinned, socket.remoteAddress) };
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
  if (failure instanceof EgressError) throw failure;
  throw new EgressError('ENETWORK', `${pinned.host}:${pinned.port} could not be reached: ${messageOf(failure)}.`, {
    next: 'Check the host and port, or try again later.',
    cause: failure,
  });
}

function connectTo(options: ConnectOptions, target: Pinned, timeoutMs: number): Promise<Socket> {
  const socket = connect({
    host: target.address, // a literal: nothing is looked up again
    port: target.port,
    family: isIPv6(target.address) ? 6 : 4,
    autoSelectFamily: false,
    allowHalfOpen: options.allowHalfOpen ?? false,
    noDelay: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const timedOut = () => {
    const message = `${target.host}:${target.port} did not accept a connection in ${Math.round(timeoutMs)} ms.`;
    socket.destroy(new EgressError('ETIMEOUT', message, { next: 'Try again later.' }));
  };
  const timer = setTimeout(timedOut, timeoutMs);
  const onAbort = () => socket.destroy(new Error('aborted'));
  options.signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', () => resolve(socket));
  socket.once('error', reject);
  return promise.finally(() => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
    socket.off('error', reject);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
