export type ToolsErrorCode =
  /** The definition of a tool or toolset is wrong; thrown while the program starts. */
  | 'EINVALIDTOOL'
  /** The registry has no toolset with this name. */
  | 'EUNKNOWNTOOLSET'
  /** A module of HOLDPOINT_TOOLS cannot be used; thrown while the program starts. */
  | 'ETOOLMODULE'
  /** The toolset has no form with this name. */
  | 'EUNKNOWNFORM'
  /** A question to a person was executed like a program; only a person can answer the question. */
  | 'ENEEDSPERSON';

/** A mistake of the calling program. A failure inside a call is a `ToolOutcome` instead. */
export class ToolsError extends Error {
  override readonly name = 'ToolsError';
  readonly code: ToolsErrorCode;
  readonly next: string;
  readonly retryable = false;

  constructor(code: ToolsErrorCode, message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
