import type { FetchLike } from '@modelcontextprotocol/client';
import { toResponse } from '../connection/guarded-fetch.ts';
import { McpError } from '../errors.ts';
import { isLoopback } from '../oauth-settings.ts';
import type { OAuthHost } from './port.ts';

const mostBytes = 64 * 1024;
const timeoutMs = 15_000;

/** The requests of a login, through the guard: bounded, encrypted except on this machine, without redirects. */
export const oauthFetch =
  ({ send }: Pick<OAuthHost, 'send'>, signal: AbortSignal): FetchLike =>
  async (input, init = {}) => {
    const url = secureUrl(input);
    const method = init.method ?? 'GET';
    if (method !== 'GET' && method !== 'POST') throw new Error(`The client sent a ${method}.`);
    const answer = await send(
      {
        ...{ url: url.href, method, headers: Object.fromEntries(new Headers(init.headers)) },
        body: init.body === undefined || init.body === null ? undefined : String(init.body),
        mayFollow: () => false,
        max_bytes: mostBytes,
        timeout_ms: timeoutMs,
      },
      signal,
    );
    if (answer.truncated) throw untrusted(`${url.origin}${url.pathname} answered with more than 64 KiB.`);
    return toResponse(answer);
  };

/** @throws McpError EMCPAUTH for an address without encryption on another machine */
export function secureUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  const { protocol, hostname, username, password } = url ?? { protocol: '' };
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname ?? ''));
  if (url !== null && isSecure && username === '' && password === '') return url;
  throw untrusted(`${String(address).slice(0, 300)} is no https address.`);
}

export const untrusted = (message: string, cause?: unknown): McpError =>
  new McpError('EMCPAUTH', message, 'Nothing was sent to it. Ask the people who run the server.', { cause });
