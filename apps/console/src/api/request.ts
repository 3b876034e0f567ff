import type { ProblemDetails } from '@holdpoint/contract/wire';

const listeners = new Set<() => void>();

/** The API has refused the cookie: the session ended, or was revoked. */
export const announceEnd = (): void => {
  for (const listener of listeners) listener();
};

export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

type Known = Pick<ProblemDetails, 'code' | 'status' | 'detail' | 'next'> & Partial<ProblemDetails>;

/** A refusal of the API, as the API words it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly next: string;
  readonly errors: NonNullable<ProblemDetails['errors']>;
  readonly approvalId: string | undefined;

  constructor({ code, status, detail, next, errors = [], approval_id }: Known) {
    super(detail);
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.next = next;
    this.errors = errors;
    this.approvalId = approval_id;
  }
}

/** No answer, or a torn answer: the API may have executed the request. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly detail = 'The server does not answer.';
  readonly next =
    'Nothing is lost. Check that Holdpoint runs (holdpoint up) and that this device reaches it; then try again.';
}

export const isProblem = (error: unknown, ...codes: string[]): error is ApiProblem =>
  error instanceof ApiProblem && (codes.length === 0 || codes.includes(error.code));

type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Query | undefined;
  body?: unknown;
  /** A write sent again with the same key is done once. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The request outlives the page. */
  keepalive?: boolean;
}

/**
 * Every request of the page to the API goes through here. The browser adds the cookie of the session; no script can read the cookie.
 * @throws ApiProblem, NoAnswer
 */
export async function ask<Answer>(request: Ask): Promise<Answer> {
  const response = await send(request);
  const text = await response.text().catch((cause: unknown) => {
    request.signal?.throwIfAborted();
    throw new NoAnswer(undefined, { cause });
  });
  if (!response.ok) throw refusal(response.status, text);
  return (text === '' ? undefined : parse(text, response.status)) as Answer;
}

/** Answers as they arrive, for downloads. @throws ApiProblem, NoAnswer */
export async function send({
  method = 'GET',
  path,
  query,
  body,
  idempotencyKey,
  signal,
  keepalive = false,
}: Ask): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  const init: RequestInit = {
    ...{ method, headers, credentials: 'same-origin', redirect: 'error', cache: 'no-store', keepalive },
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal !== undefined) init.signal = signal;
  const response = await fetch(`${path}${queryText(query)}`, init).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new NoAnswer(undefined, { cause });
  });
  if (response.status === 401 && !path.startsWith('/v1/session')) announceEnd();
  return response;
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return [];
    return [[name, Array.isArray(value) ? value.join(',') : String(value)]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function refusal(status: number, text: string): ApiProblem {
  const body = parseOr(text);
  if (isDetails(body)) return new ApiProblem(body);
  return new ApiProblem({
    code: 'unexpected_answer',
    status,
    detail: `The server answered ${status}, and not in the words of this API.`,
    next: 'Check what stands between this device and Holdpoint, such as a proxy.',
  });
}

const isDetails = (body: unknown): body is ConstructorParameters<typeof ApiProblem>[0] =>
  typeof body === 'object' && body !== null && 'code' in body && 'detail' in body && 'next' in body;

function parse(text: string, status: number): unknown {
  const value = parseOr(text);
  if (value === undefined) throw refusal(status, text);
  return value;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
