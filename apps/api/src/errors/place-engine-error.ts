import { EngineError, type EngineErrorCode } from '@holdpoint/engine';
import { PlacedError } from './placed-error.ts';

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
