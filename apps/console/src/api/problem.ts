import type { ProblemDetails } from '@holdpoint/contract/wire';

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
