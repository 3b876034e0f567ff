/** A program cannot work with a data directory and a Redis. To try again does not help. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
  readonly code: InstallationErrorCode;
  readonly retryable = false;
  /** The next action, as a sentence for a person. */
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
  | 'installation_lost'
  | 'installation_in_use'
  | 'installation_copied'
  | 'data_directory_unusable'
  | 'format_missing'
  | 'format_older'
  | 'format_newer'
  | 'format_unfinished'
  | 'format_mismatch';
