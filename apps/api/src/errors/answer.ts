import type { ProblemDetails } from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import { redisTrouble } from '@holdpoint/engine/redis';
import { WorkspaceError } from '@holdpoint/workspace';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type App, pathOf } from '../deps.ts';
import { ApiProblem, PlacedError } from './api-problem.ts';
import {
  type ApiProblemCode,
  apiProblems,
  engineProblems,
  type ProblemKind,
  redisProblems,
  workspaceProblems,
} from './registry.ts';

/** Answers every error as a problem (RFC 9457). Logs the server's own errors with their cause. */
export function answerErrors(app: App): void {
  const routes: { method: string; pattern: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, pattern: patternOf(url) });
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const methods = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) throw new ApiProblem('not_found', `there is no ${path}`);
    reply.header('allow', methods.join(', '));
    throw new ApiProblem('method_not_allowed', `${path} does not take ${request.method}`);
  });
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: error, code: problem.code }, 'a request failed');
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  if (problem.status === 503) reply.header('retry-after', '1');
  const body: ProblemDetails = { ...problem, instance: pathOf(request), request_id: request.id };
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(body));
}

/** The answer to bytes that are not HTTP, for which there is no request. */
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

/** A problem without the fields of its request. */
type Problem = Omit<ProblemDetails, 'instance' | 'request_id'>;

/** The problem that a client gets for an error. An unknown error is an internal one, and its message stays in the log. */
function toProblem(error: unknown): Problem {
  if (error instanceof ApiProblem) {
    const { errors, conflicts, approvalId } = error;
    return {
      ...problem(error.code, apiProblems[error.code], error.message, error.next),
      errors: errors && [...errors],
      conflicts: conflicts && [...conflicts],
      approval_id: approvalId,
    };
  }
  if (error instanceof PlacedError) return { ...toProblem(error.cause), errors: [...error.errors] };
  if (error instanceof EngineError) return problem(error.code, engineProblems[error.code], error.message, error.next);
  if (error instanceof WorkspaceError) {
    const { code, ...kind } = workspaceProblems[error.code];
    return problem(code, kind, error.message, error.next);
  }
  const trouble = redisTrouble(error);
  if (trouble) return problem(trouble.code, redisProblems[trouble.code], trouble.detail, trouble.next);
  if (isDiskFull(error)) return own('storage_full', 'the disk of the data directory is full');
  return ofFramework(error) ?? own('internal', 'something failed inside the server');
}

const own = (code: ApiProblemCode, detail: string): Problem =>
  problem(code, apiProblems[code], detail, apiProblems[code].next);

const problem = (code: string, { status, title }: ProblemKind, detail: string, next: string): Problem => ({
  type: `urn:holdpoint:problem:${code}`,
  title,
  status,
  detail,
  code,
  next,
});

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** Fastify's own errors about a request. */
function ofFramework(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return undefined;
  if (error.statusCode < 400 || error.statusCode > 499) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  return own(frameworkCodes[code] ?? (error instanceof SyntaxError ? 'malformed_json' : 'bad_request'), error.message);
}

const frameworkCodes: Record<string, ApiProblemCode> = {
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};
