import type { ConflictSummary } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import { EngineError, type EngineErrorCode } from '@holdpoint/engine';
import { type ApiProblemCode, apiProblems } from './registry.ts';

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
  readonly code: ApiProblemCode;
  readonly next: string;
  readonly errors: readonly PointerError[] | undefined;
  readonly conflicts: readonly ConflictSummary[] | undefined;
  readonly approvalId: string | undefined;

  constructor(code: ApiProblemCode, detail: string, { errors, conflicts, approval_id, next }: Details = {}) {
    super(detail);
    this.code = code;
    this.next = next ?? apiProblems[code].next;
    this.errors = errors;
    this.conflicts = conflicts;
    this.approvalId = approval_id;
  }
}

/** An error of another package, with the places in the request that it is about. */
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
 * Names the place in the request that an error of the engine is about.
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
