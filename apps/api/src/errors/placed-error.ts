import type { PointerError } from '@holdpoint/contract/wire';

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
