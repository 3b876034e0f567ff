import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createClient } from '@holdpoint/client';
import { answerMcp, type McpServerDeps } from '@holdpoint/mcp-server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type RequestInit, Response } from 'undici';
import manifest from '../../../package.json' with { type: 'json' };
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/** Statuses whose answers have no body (Fetch, "null body status"). */
const withoutBody = new Set([204, 205, 304]);

/**
 * Requests to this very server without a socket. They pass everything that a request from outside passes: guards, rates, checks of the
 * body, redaction, log.
 */
const fetchFrom =
  (app: App, host: string) =>
  async (url: string, { method, headers, body, signal }: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const answer = await app.inject({
      method: (method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: { ...(headers as Record<string, string>), host },
      ...(typeof body === 'string' && { payload: body }),
      ...(signal && { signal }),
      payloadAsStream: true,
    });
    const stream = answer.stream();
    const given = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    if (withoutBody.has(answer.statusCode)) {
      stream.resume();
      return new Response(null, { status: answer.statusCode, headers: given });
    }
    // A web stream takes a third of the time of a short answer.
    if (answer.headers['content-type']?.toString().startsWith('application/json')) {
      return new Response(Buffer.concat(await stream.toArray()), { status: answer.statusCode, headers: given });
    }
    return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
      status: answer.statusCode,
      headers: given,
    });
  };

/**
 * The Model Context Protocol over Streamable HTTP. Each request is answered alone, with the key that it carries: its tools are requests to
 * this API with that key, so they have the scopes, the rates, the tenant and the audit records of the key.
 */
export function mcpRoute(app: App): void {
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { access: 'any key' },
    schema: { hide: true },
    async handler(request, reply) {
      const over = endOf(request, reply);
      const answer = await answerMcp(webRequest(request, over), request.body, depsFor(app, request));
      reply.code(answer.status);
      for (const [name, value] of answer.headers) if (name !== 'content-length') reply.header(name, value);
      if (answer.body === null) return reply.send();
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
      return reply.send(isStream ? Readable.fromWeb(answer.body) : Buffer.from(await answer.arrayBuffer()));
    },
  });
}

function depsFor(app: App, request: FastifyRequest): McpServerDeps {
  const { authorization, host = '' } = request.headers;
  const key = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  // A page of this server could send its cookie here; agents have keys.
  if (key === undefined) throw new ApiProblem('unauthorized', 'this request carries no key');
  const address = `${request.protocol}://${host}`;
  const client = createClient({ baseUrl: address, key, fetch: fetchFrom(app, host) });
  const onError = (error: Error): void => request.log.warn({ err: error }, 'an MCP request went wrong');
  return { client, address, version: manifest.version, now: () => performance.now(), onError };
}

/** Aborted when the client leaves before its answer, and when the server closes. An abort after the answer would cost a part of each call. */
function endOf({ deps }: { deps: Pick<ApiDeps, 'closing'> }, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return AbortSignal.any([gone.signal, deps.closing]);
}

function webRequest({ method, url, headers }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'content-length'
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
  );
  return new Request(new URL(url, 'http://localhost'), {
    // The parsed body goes beside the request.
    ...{ method, headers: given, signal },
  });
}
