import type { NetworkRequest, NetworkResponse } from '../network.ts';
import type { ToolContext } from '../tool.ts';
import { type Failure, failure } from './cut-short.ts';

/** Sends a request and returns refusals of the network as data. Throws every other error, and every error after an abort. */
export async function networkFetch(
  { network, signal }: ToolContext,
  request: NetworkRequest,
): Promise<{ ok: true; response: NetworkResponse } | { ok: false; failure: Failure }> {
  if (!network) return { ok: false, failure: networkOff(request.url) };
  try {
    return { ok: true, response: await network.fetch(request, signal) };
  } catch (error) {
    const refused = signal.aborted ? undefined : networkFailure(error);
    if (!refused) throw error;
    return { ok: false, failure: refused };
  }
}

/** The outcome for an error of the network; undefined for any other error. */
export function networkFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (!codes.has(error.code)) return undefined;
  const next = 'next' in error && typeof error.next === 'string' ? error.next : 'Try another address.';
  const failed = failure(error.code, error.message, next);
  return error.code === 'ETIMEOUT' ? { ...failed, status: 'timed_out' } : failed;
}

const codes = new Set([
  'EURLINVALID',
  'ENETWORKOFF',
  'EHOSTNOTALLOWED',
  'EADDRESSREFUSED',
  'EREDIRECTREFUSED',
  'ETOOLARGE',
  'ETIMEOUT',
  'ENETWORK',
]);

export function networkOff(url: string): Failure {
  const host = (URL.canParse(url) && new URL(url).host) || 'example.com';
  return failure(
    'ENETWORKOFF',
    'This run has no network: it was submitted without a network allowlist.',
    `Continue without the network, or have the run submitted with ${allowing(host)}.`,
  );
}

/** The setting by which a run reaches a host. @param host with its port, except for the default port */
export function allowing(host: string): string {
  return `network: { allow: ["${host}"] }`;
}
