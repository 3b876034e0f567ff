import type { ConflictSummary } from '@holdpoint/contract';
import type { PointerError, ProblemDetails } from '@holdpoint/contract/wire';

/** The server refused, with a stable code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  /** HTTP status. */
  readonly status: number;
  readonly detail: string;
  readonly next: string;
  /** The mistakes in the request. */
  readonly errors: readonly PointerError[];
  /** With `publish_conflict`: why nothing was published. */
  readonly conflicts: readonly ConflictSummary[];
  /** With `publish_conflict`, when a decision can settle the conflict: the pending approval. */
  readonly approvalId: string | undefined;
  readonly requestId: string | undefined;
  /** The same request may succeed later. */
  readonly retryable: boolean;

  constructor(problem: ApiProblem, options: ErrorOptions = {}) {
    super(problem.detail, options);
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.next = problem.next;
    this.errors = problem.errors ?? [];
    this.conflicts = problem.conflicts ?? [];
    this.approvalId = problem.approval_id;
    this.requestId = problem.request_id;
    this.retryable = problem.status === 503 || problem.status === 429;
  }
}

type ApiProblem = Pick<
  ProblemDetails,
  'code' | 'status' | 'detail' | 'next' | 'errors' | 'conflicts' | 'approval_id'
> & { request_id?: string };

/** No answer, or an incomplete answer. The server may have executed the request; every command is safe to send again. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'connection_failed';
  readonly retryable = true;
  readonly next: string;

  constructor(baseUrl: string, cause: unknown) {
    super(`no answer from ${baseUrl}: ${reasonOf(cause)}`, { cause });
    this.next = 'Start Holdpoint with `holdpoint up`, or correct the address, and try again.';
  }
}

/** undici's message is only "fetch failed" or "terminated". The reason is in its cause, and in a list after tries at two addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message;
}
