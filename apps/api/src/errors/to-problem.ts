import { CallerError, RateError } from '@holdpoint/callers';
import type { ConflictSummary } from '@holdpoint/contract';
import type { DamagedEntry, PointerError, ProblemDetails } from '@holdpoint/contract/wire';
import { EngineError, type EngineErrorCode, readEntry, splitDamaged } from '@holdpoint/engine';
import { redisTrouble } from '@holdpoint/engine/redis';
import { SecretError } from '@holdpoint/secrets';
import { WorkspaceError } from '@holdpoint/workspace';
import type { ApiDeps } from '../deps.ts';
import * as registry from './registry.ts';

interface Details {
  errors?: readonly PointerError[];
  conflicts?: readonly ConflictSummary[];
  approval_id?: string | undefined;
  /** @default the text of the registry for the code */
  next?: string | undefined;
}

/** A refusal of a route, with a code of the registry. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: registry.ApiProblemCode;
  readonly next: string;
  readonly errors: readonly PointerError[] | undefined;
  readonly conflicts: readonly ConflictSummary[] | undefined;
  readonly approvalId: string | undefined;

  constructor(code: registry.ApiProblemCode, detail: string, { errors, conflicts, approval_id, next }: Details = {}) {
    super(detail);
    this.code = code;
    this.next = next ?? registry.apiProblems[code].next;
    this.errors = errors;
    this.conflicts = conflicts;
    this.approvalId = approval_id;
  }
}

/** An error of another package, with the faulty places in the request. */
export class PlacedError extends Error {
  override readonly name = 'PlacedError';
  override readonly cause: Error;
  readonly errors: readonly PointerError[];

  constructor(cause: Error, errors: readonly PointerError[]) {
    super(cause.message, { cause });
    this.cause = cause;
    this.errors = errors;
  }
}

/**
 * Adds the faulty place in the request to an error of the engine.
 * @param places JSON pointers by code
 */
export async function placeEngineError<Result>(
  places: Partial<Record<EngineErrorCode, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const pointer = error instanceof EngineError ? places[error.code] : undefined;
    if (!(error instanceof EngineError) || pointer === undefined) throw error;
    throw new PlacedError(error, [{ pointer, detail: error.message }]);
  }
}

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

type Logger = Pick<ApiDeps, 'logger'>;

interface Unreadable {
  id: string;
  error: unknown;
}

/** The field `damaged` of a page, logged with the causes; nothing when every entry was read. */
export function showDamaged({ logger }: Logger, damaged: readonly Unreadable[]): { damaged?: DamagedEntry[] } {
  if (damaged.length === 0) return {};
  for (const { id, error } of damaged) logger.error({ id, err: error }, 'an entry of a list cannot be read');
  return { damaged: damaged.map(toEntry) };
}

/** Makes the entries of a list. A failing entry is named as damaged, and the others are shown. */
export async function showEach<Item, Shown>(
  deps: Logger,
  { items, damaged = [] }: { items: readonly Item[]; damaged?: readonly Unreadable[] },
  { idOf, show }: { idOf: (item: Item) => string; show: (item: Item) => Shown | Promise<Shown> },
): Promise<{ data: Shown[]; damaged?: DamagedEntry[] }> {
  const entries = await Promise.all(items.map((item) => readEntry(idOf(item), () => show(item))));
  const { items: data, damaged: failed } = splitDamaged<Shown>(entries);
  return { data, ...showDamaged(deps, [...damaged, ...failed]) };
}

function toEntry({ id, error }: Unreadable): DamagedEntry {
  const { code, detail, next } = toProblem(error);
  return code === 'internal' ? { id, ...unreadable } : { id, code, detail, next: next ?? unreadable.next };
}

const unreadable = {
  code: 'state_damaged',
  detail: 'the stored data of this entry cannot be read; the log of the API has the cause',
  next: 'Restore the data directory and Redis from the same backup, or cancel the run.',
};

export function invalidCursor(detail: string): ApiProblem {
  const next = 'Use the next_cursor of a page of this list, or leave it out for the first page.';
  return new ApiProblem('invalid_request', detail, { errors: [{ pointer: 'cursor', detail }], next });
}
