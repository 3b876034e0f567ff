import type { PointerError } from '@holdpoint/contract/wire';
import { EngineError, type EngineErrorCode } from '@holdpoint/engine';

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
