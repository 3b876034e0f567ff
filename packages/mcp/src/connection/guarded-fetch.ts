import type { Network, NetworkResponse } from '@holdpoint/tools';
import type { FetchLike } from '@modelcontextprotocol/client';
import { bounds } from '../bounds.ts';
import { McpError } from '../errors.ts';

/** Headers about the transfer of an answer. The guard has decoded the body. */
const ofTransfer = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive']);
const withoutBody = new Set([101, 204, 205, 304]);

/** An answer of the network, for the library of the protocol. */
export function toResponse({ status, headers: received, body }: NetworkResponse): Response {
  const headers = Object.entries(received).filter(([name]) => !ofTransfer.has(name));
  return new Response(withoutBody.has(status) ? null : new Uint8Array(body), { status, headers });
}

/**
 * The requests of a client of the protocol, through the network of a call: to the server's own address alone, without redirects. The stream of
 * messages without a request (GET) is not opened.
 * @param onFailure hears of an error of the network before the client wraps it
 */
export const guardedFetch =
  (
    network: Pick<Network, 'fetch'>,
    {
      url,
      timeoutMs,
      signal,
      onFailure,
    }: { url: URL; timeoutMs: number; signal: AbortSignal; onFailure: (error: unknown) => void },
  ): FetchLike =>
  async (input, init = {}) => {
    const method = init.method ?? 'GET';
    if (new URL(input).href !== url.href) throw new Error('The client asked for another address than the server’s.');
    if (method === 'GET') return new Response(null, { status: 405 });
    if (method !== 'POST' && method !== 'DELETE') throw new Error(`The client sent a ${method}.`);
    try {
      const answer = await network.fetch(
        {
          url: url.href,
          method,
          headers: Object.fromEntries(new Headers(init.headers)),
          body: typeof init.body === 'string' ? init.body : undefined,
          mayFollow: () => false,
          max_bytes: bounds.message,
          timeout_ms: timeoutMs,
        },
        signal,
      );
      if (answer.truncated) {
        throw new McpError('EMCPTOOBIG', 'The server answered with more than 8 MiB.', 'Ask for less in one call.');
      }
      return toResponse(answer);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
