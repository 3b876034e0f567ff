export type EgressErrorCode =
  /** A rule, an operator's address range or a token cannot be used. */
  | 'ERULEINVALID'
  /** The request cannot be sent unchanged: URL, method, a header. */
  | 'EURLINVALID'
  /** The run has no network rules, so its network is off. */
  | 'ENETWORKOFF'
  /** The host and port match no rule. */
  | 'EHOSTNOTALLOWED'
  /** The address is private, reserved or otherwise not public. */
  | 'EADDRESSREFUSED'
  /** The client does not follow this redirect. */
  | 'EREDIRECTREFUSED'
  /** The request body, the response headers or body, or the run's traffic, are over their limit. */
  | 'ETOOLARGE'
  | 'ETIMEOUT'
  /** The name does not resolve, the host does not answer, or the response is broken. */
  | 'ENETWORK';

/**
 * A connection to the outside was refused or failed.
 *
 * @param options.retryable whether the same call may succeed later
 * @param options.next the next step for a person or the caller
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: EgressErrorCode, message: string, options: { next: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = code === 'ETIMEOUT' || code === 'ENETWORK';
    this.next = options.next;
  }
}
