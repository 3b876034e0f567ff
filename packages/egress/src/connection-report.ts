import type { Socket } from 'node:net';
import { EgressError } from './errors.ts';

/** One connection to the outside, or one attempt at it. Reported when it ends. */
export interface EgressConnection {
  /** Normalised when it is a valid host; otherwise as the client wrote it, at most 300 characters. Empty when the client named none. */
  host: string;
  /** 0 when the client named none. */
  port: number;
  /** Set only when a connection was made. */
  address?: string;
  verdict:
    | 'allowed'
    /** No connection was made. */
    | 'refused'
    /** Allowed, but the host could not be reached. */
    | 'failed';
  /**
   * Why it was refused, failed, or cut short: an `EgressErrorCode`, or `EABORTED` (this side gave up). The proxy adds `EPROXYAUTH` (no token
   * or a wrong one), `EPROXYREQUEST` (a request that a proxy does not serve) and `EPROXYBUSY` (too many connections).
   */
  code: string | null;
  /** Bytes to and from the outside; without TLS framing when this package speaks TLS itself. */
  bytes_up: number;
  bytes_down: number;
  ms: number;
  /** When it began, in milliseconds since 1970. */
  at: number;
}

/** How a connection ended. */
export type ConnectionEnd = Pick<EgressConnection, 'verdict' | 'code' | 'address'>;

/** @param input.socket null when no connection was made */
export function reportOf(input: {
  target: { host: string; port: number };
  end: ConnectionEnd;
  socket: Socket | null;
  at: number;
}): EgressConnection {
  const { target, end, socket, at } = input;
  const bytes = { bytes_up: socket?.bytesWritten ?? 0, bytes_down: socket?.bytesRead ?? 0 };
  return { ...target, ...end, ...bytes, ms: Date.now() - at, at };
}

/** Describes an attempt after which there is no connection. */
export function failedEnd(error: unknown): ConnectionEnd {
  const code = codeOf(error);
  const failed = !(error instanceof EgressError) || code === 'ENETWORK' || code === 'ETIMEOUT';
  return { verdict: failed ? 'failed' : 'refused', code };
}

export function codeOf(error: unknown): string {
  if (error instanceof EgressError) return error.code;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return system && !/ABORT/.test(String(error.code)) ? 'ENETWORK' : 'EABORTED';
}
