import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { ServerDeps } from '../deps.ts';
import { ApiProblem } from '../errors/to-problem.ts';

/**
 * Refuses requests from web pages. A page can let its own name resolve to this server (DNS rebinding), so the server accepts only names out
 * of reach for pages: loopback names when bound to loopback, otherwise addresses and the name of this machine; and the names listed by the
 * operator. The server refuses every page of another origin.
 */
export const guardHost =
  ({ host, hostNames }: Pick<ServerDeps, 'host' | 'hostNames'>): onRequestAsyncHookHandler =>
  async ({ headers }) => {
    const asked = headers.host ?? '';
    const name = nameOf(asked);
    const isOurs = isLoopback(host) ? isLoopback(name) : isIP(name) !== 0 || ownNames.has(name);
    if (!isOurs && !hostNames.includes(name)) {
      throw new ApiProblem('misdirected_request', `this server does not answer to the name ${JSON.stringify(name)}`);
    }
    if (headers.origin !== undefined && hostOfOrigin(headers.origin) !== asked.toLowerCase()) {
      throw new ApiProblem('origin_not_allowed', 'this request comes from a page of another origin');
    }
  };

const ownNames = new Set(['localhost', hostname().toLowerCase()]);

/** @param name a host name or an address, without port or brackets */
export const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));

/** The name in a Host header: `[::1]:4747` → `::1`. */
function nameOf(header: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::\d+)?$/i.exec(header);
  return (match?.[1] ?? match?.[2] ?? '').toLowerCase();
}

const hostOfOrigin = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);
