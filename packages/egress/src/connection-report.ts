import type { Socket } from 'node:net';
import type { Connection } from '@holdpoint/contract';
import { EgressError } from './errors.ts';

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

export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.code;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return system && !/ABORT/.test(String(error.code)) ? 'ENETWORK' : 'EABORTED';
}
