export type SandboxErrorCode =
  /** No usable isolation on this host. */
  | 'ESANDBOXMISSING'
  /** The policy does not accept a gap in the isolation. */
  | 'ESANDBOXGAP'
  /** bubblewrap has changed since the set-up unpacked the program, or the worker found it. */
  | 'ESANDBOXCHANGED'
  /** The set-up of a sandbox failed, and the command did not run. */
  | 'ESANDBOXSETUP'
  /** The starter ended, and every sandbox of the worker with the starter. */
  | 'ESTARTERLOST'
  /** The command is invalid: NUL in an argument, a working directory outside the workspace, a bad limit. */
  | 'ECOMMANDINVALID'
  /** The tool host ended during a request. */
  | 'ETOOLHOSTLOST'
  /** The tool host broke the protocol and was killed. */
  | 'ETOOLHOSTVIOLATION'
  /** The tool host did not answer in time and was killed. */
  | 'ETOOLHOSTTIMEOUT'
  /** A program of Holdpoint ended during a request. */
  | 'EPROGRAMLOST'
  /** A program of Holdpoint broke its protocol and was killed. */
  | 'EPROGRAMVIOLATION'
  /** A program of Holdpoint did not answer in time and was killed. */
  | 'EPROGRAMTIMEOUT'
  /** Killed processes did not end. */
  | 'EKILLFAILED'
  /** Processes could not be frozen, so the action was not done. */
  | 'EFREEZEFAILED'
  /** The sandbox was closed. */
  | 'ESANDBOXCLOSED';

/**
 * A failure of the sandbox. The error says nothing about the command or the files.
 *
 * @param options.retryable whether the same call may succeed later
 * @param options.next advice for the user or the caller
 */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;
  readonly retryable: boolean;
  readonly next: string;

  constructor(code: SandboxErrorCode, message: string, options: { retryable: boolean; next: string; cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable;
    this.next = options.next;
  }
}
