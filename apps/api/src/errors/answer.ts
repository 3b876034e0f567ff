import { RateError } from '@holdpoint/callers';
import type { ProblemDetails } from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lineAbout, pathOf, traceOfRequest } from '../about-request.ts';
import type { App } from '../deps.ts';
import { ApiProblem, type Problem, toProblem } from './to-problem.ts';

/** Answers every error as a problem (RFC 9457). Logs the server's own errors with their cause. */
export function answerErrors(app: App): void {
  const routes: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === 'console') return;
    for (const one of [method].flat()) routes.push({ method: one, pattern: patternOf(url) });
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const methods = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    // A path longer than any parameter falls through to the route of the console, although its own route takes the method.
    if (methods.length === 0 || methods.includes(request.method))
      throw new ApiProblem('not_found', `there is no ${path}`);
    reply.header('allow', methods.join(', '));
    throw new ApiProblem('method_not_allowed', `${path} does not take ${request.method}`);
  });
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toProblem(error);
  if (problem.status >= 500)
    request.log.error({ err: error, code: problem.code, ...lineAbout(request) }, 'a request failed');
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  if (problem.status === 503) reply.header('retry-after', '1');
  if (problem.status === 429) reply.header('retry-after', retryAfterOf(error));
  const body: ProblemDetails = {
    ...problem,
    instance: pathOf(request),
    request_id: request.id,
    trace_id: traceOfRequest(request),
  };
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(body));
}

const retryAfterOf = (error: unknown): number =>
  (error instanceof RateError || error instanceof EngineError ? error.retryAfterS : undefined) ?? 5;

/** The answer to bytes other than HTTP. Such bytes have no request object. */
export function rawProblem(error: unknown, requestId: string): string {
  const problem: Problem = toProblem(new ApiProblem('bad_request', 'this is not a valid HTTP request'));
  const tooLarge = error instanceof Error && 'code' in error && error.code === 'HPE_HEADER_OVERFLOW';
  const body = JSON.stringify({
    ...problem,
    ...(tooLarge ? { status: 431 } : {}),
    instance: '',
    request_id: requestId,
  });
  return [
    tooLarge ? 'HTTP/1.1 431 Request Header Fields Too Large' : 'HTTP/1.1 400 Bad Request',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll(/:[a-z_]+/g, '[^/]+')}$`);
