/** A data directory and a Redis do not belong together. None of these passes by trying again. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
  readonly code: InstallationErrorCode;
  readonly retryable = false;
  /** What to do next, as a sentence for a person. */
  readonly next: string;

  constructor(code: InstallationErrorCode, message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}

export type InstallationErrorCode =
  | 'installation_mismatch'
  | 'installation_data_missing'
  | 'installation_redis_missing'
  | 'installation_unreadable'
  | 'installation_lost';
