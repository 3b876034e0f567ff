import { EgressError } from './errors.ts';

/** One connection to the outside, or one attempt at it. Reported when it has ended. */
export interface EgressConnection {
  /** Normalised where it is a host at all; else as it was asked for, at most 300 characters. Empty when nothing was asked for. */
  host: string;
  /** 0 when nothing was asked for. */
  port: number;
  /** Only when a connection was made. */
  address?: string | undefined;
  verdict:
    | 'allowed'
    /** Nothing was connected to. */
    | 'refused'
    /** Allowed, and it could not be reached. */
    | 'failed';
  /**
   * Why it was refused, failed, or cut short: an `EgressErrorCode`, `EABORTED` (somebody here gave up), or of the proxy `EPROXYAUTH` (no or
   * a wrong token), `EPROXYREQUEST` (no request that a proxy serves), `EPROXYBUSY` (too many at once).
   */
  code: string | null;
  /** Bytes to and from the outside, within TLS where it is ours. */
  bytes_up: number;
  bytes_down: number;
  ms: number;
  /** When it began, in milliseconds since 1970. */
  at: number;
}

/** Of a connection that was never made. */
export function verdictOf(error: unknown): 'refused' | 'failed' {
  if (!(error instanceof EgressError)) return 'failed';
  return error.code === 'ENETWORK' || error.code === 'ETIMEOUT' ? 'failed' : 'refused';
}

export function codeOf(error: unknown): string {
  if (error instanceof EgressError) return error.code;
  const system = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return system && !/ABORT/.test(String(error.code)) ? 'ENETWORK' : 'EABORTED';
}
