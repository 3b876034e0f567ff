import { isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { ApiProblem } from '../errors/api-problem.ts';

/**
 * Keeps web pages out. A page may let its own name point to this server (DNS rebinding), so the server answers to names that no page can
 * have: bound to loopback, to loopback names; otherwise to addresses and the name of this machine; and to those that the operator lists. A
 * page of another origin has no business here at all.
 */
export const guardHost =
  ({ host, hostNames }: Pick<ApiDeps, 'host' | 'hostNames'>): onRequestAsyncHookHandler =>
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
