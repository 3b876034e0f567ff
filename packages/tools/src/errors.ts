export type ToolsErrorCode =
  /** A tool or toolset was defined wrongly; thrown while the program starts. */
  | 'EINVALIDTOOL'
  /** No toolset of that name is registered. */
  | 'EUNKNOWNTOOLSET'
  /** A question to a person was executed like a program. */
  | 'ENEEDSPERSON';

/** A mistake of the calling program. What goes wrong inside a call is never thrown as this; it is a `ToolOutcome`. */
export class ToolsError extends Error {
  override readonly name = 'ToolsError';
  readonly code: ToolsErrorCode;
  /** What to do next. */
  readonly next: string;
  readonly retryable = false;

  constructor(code: ToolsErrorCode, message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
