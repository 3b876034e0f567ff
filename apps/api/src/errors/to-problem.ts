import { CallerError, RateError } from '@holdpoint/callers';
import type { ProblemDetails } from '@holdpoint/contract/wire';
import { EngineError } from '@holdpoint/engine';
import { redisTrouble } from '@holdpoint/engine/redis';
import { SecretError } from '@holdpoint/secrets';
import { WorkspaceError } from '@holdpoint/workspace';
import { ApiProblem } from './api-problem.ts';
import { PlacedError } from './placed-error.ts';
import * as registry from './registry.ts';

/** A problem without the fields of its request. */
export type Problem = Omit<ProblemDetails, 'instance' | 'request_id'>;

/** The client's problem document for an error. An unknown error is answered as internal, and its message stays in the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ApiProblem) {
    const { errors, conflicts, approvalId } = error;
    return {
      ...problem(error.code, registry.apiProblems[error.code], error.message, error.next),
      errors: errors && [...errors],
      conflicts: conflicts && [...conflicts],
      approval_id: approvalId,
    };
  }
  if (error instanceof PlacedError) return { ...toProblem(error.cause), errors: [...error.errors] };
  if (error instanceof EngineError)
    return problem(error.code, registry.engineProblems[error.code], error.message, error.next);
  if (error instanceof CallerError) {
    const { errors } = error;
    return {
      ...problem(error.code, registry.callerProblems[error.code], error.message, error.next),
      ...(errors.length === 0 ? {} : { errors: [...errors] }),
    };
  }
  if (error instanceof RateError) {
    return problem(error.code, { status: 429, title: 'Too many requests' }, error.message, error.next);
  }
  if (error instanceof WorkspaceError) {
    const { code, ...kind } = registry.workspaceProblems[error.code];
    return problem(code, kind, error.message, error.next);
  }
  if (error instanceof SecretError) {
    const { code, ...kind } = registry.secretProblems[error.code];
    return problem(code, kind, error.message, error.next);
  }
  const trouble = redisTrouble(error);
  if (trouble) return problem(trouble.code, registry.redisProblems[trouble.code], trouble.detail, trouble.next);
  if (isDiskFull(error)) return own('storage_full', 'the disk of the data directory is full');
  return ofFramework(error) ?? own('internal', 'something failed inside the server');
}

const own = (code: registry.ApiProblemCode, detail: string): Problem =>
  problem(code, registry.apiProblems[code], detail, registry.apiProblems[code].next);

const problem = (code: string, { status, title }: registry.ProblemKind, detail: string, next: string): Problem => ({
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
  const kind = frameworkCodes[code] ?? (error instanceof SyntaxError ? 'malformed_json' : 'bad_request');
  return own(kind, kind === 'malformed_json' ? whereMalformed(error.message) : error.message);
}

/** The parser's message quotes the body, possibly with a secret: only the place is taken from the end of the message. */
function whereMalformed(message: string): string {
  const [, line, column] = / in JSON at position \d+ \(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  return line === undefined
    ? 'the body is not valid JSON'
    : `the body is not valid JSON: line ${line}, column ${column}`;
}

const frameworkCodes: Record<string, registry.ApiProblemCode> = {
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};
