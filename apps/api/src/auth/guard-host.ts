import { isIPv4 } from 'node:net';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { ApiProblem } from '../errors/api-problem.ts';

/**
 * Keeps web pages out. A page may let its own name point to 127.0.0.1 (DNS rebinding): a server bound to loopback answers to loopback
 * names only. A page of another origin has no business here at all.
 */
export const guardHost =
  ({ host }: Pick<ApiDeps, 'host'>): onRequestAsyncHookHandler =>
  async ({ headers }) => {
    const asked = headers.host ?? '';
    if (isLoopback(host) && !isLoopback(nameOf(asked))) {
      throw new ApiProblem('misdirected_request', 'this server answers to loopback names only');
    }
    if (headers.origin !== undefined && hostOfOrigin(headers.origin) !== asked.toLowerCase()) {
      throw new ApiProblem('origin_not_allowed', 'this request comes from a page of another origin');
    }
  };

/** @param name a host name or an address, without port or brackets */
export const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));

/** The name in a Host header: `[::1]:4747` → `::1`. */
function nameOf(header: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::\d+)?$/i.exec(header);
  return (match?.[1] ?? match?.[2] ?? '').toLowerCase();
}

const hostOfOrigin = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);
