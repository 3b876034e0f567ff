/** The embedded Redis cannot be started or stopped. To try again does not help: a person has to act. */
export class EmbeddedRedisError extends Error {
  readonly code: EmbeddedRedisErrorCode;
  readonly retryable = false;
  /** The next step, as a sentence for a person. */
  readonly next: string;

  constructor(code: EmbeddedRedisErrorCode, message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'EmbeddedRedisError';
    this.code = code;
    this.next = next;
  }
}

export type EmbeddedRedisErrorCode =
  | 'redis_not_found'
  | 'redis_not_running'
  | 'redis_engine_changed'
  | 'redis_engine_unknown'
  | 'redis_did_not_start'
  | 'redis_did_not_stop'
  | 'redis_silent'
  | 'data_directory_unusable';
