import type { Socket } from 'node:net';
import type { EventOf } from '@holdpoint/contract';
import { EgressError } from './errors.ts';

/**
 * One connection to the outside, or one attempt at it, as the log records it when it ends.
 *
 * - `host`: normalised when it is a valid host; otherwise as the client wrote it, at most 300 characters. Empty when the client named none.
 * - `port`: 0 when the client named none.
 * - `verdict`: `refused` when no connection was allowed, `failed` when the host was allowed but could not be reached.
 * - `reason`: why it was refused, failed, or cut short: an `EgressErrorCode`, or `EABORTED` (this side gave up). The proxy adds `EPROXYAUTH`
 *   (no token or a wrong one), `EPROXYREQUEST` (a request that a proxy does not serve) and `EPROXYBUSY` (too many connections).
 * - `bytes_up`, `bytes_down`: without TLS framing when this package speaks TLS itself.
 */
export type EgressConnection = Omit<EventOf<'network.connected'>['data'], 'attempt'>;

/** How a connection ended. */
export type ConnectionEnd = Pick<EgressConnection, 'verdict' | 'reason' | 'address'>;

/** @param input.at when it began, in milliseconds since 1970 @param input.socket null when no connection was made */
export function reportOf(input: {
  target: { host: string; port: number };
  end: ConnectionEnd;
  socket: Socket | null;
  at: number;
}): EgressConnection {
  const { target, end, socket, at } = input;
  const bytes = { bytes_up: socket?.bytesWritten ?? 0, bytes_down: socket?.bytesRead ?? 0 };
  return { ...target, ...end, ...bytes, duration_ms: Date.now() - at };
}

/** Describes an attempt after which there is no connection. */
export function failedEnd(error: unknown): ConnectionEnd {
  const reason = reasonOf(error);
  const failed = !(error instanceof EgressError) || reason === 'ENETWORK' || reason === 'ETIMEOUT';
  return { verdict: failed ? 'failed' : 'refused', reason };
}

export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.code;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return system && !/ABORT/.test(String(error.code)) ? 'ENETWORK' : 'EABORTED';
}
