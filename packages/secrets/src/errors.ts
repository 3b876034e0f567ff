export type SecretErrorCode =
  /** No provider has a secret with this name. */
  | 'ESECRETUNKNOWN'
  /** The value is unusable: too short, or with characters foreign to its use. */
  | 'ESECRETVALUE'
  /** A folder, a file or the key is readable for others, belongs to another user, or cannot be read. */
  | 'ESECRETACCESS'
  /** An entry of the store was changed or cut, or the key is not the store's key. */
  | 'ESECRETSTORE'
  /** There is no key, so there is no encrypted store. */
  | 'ESECRETSTOREOFF'
  /** Another provider has a secret with this name: an entry of the store would hide the other secret. */
  | 'ESECRETTAKEN';

/** A secret cannot be read or set. No message contains a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  readonly code: SecretErrorCode;
  readonly retryable = false;
  readonly next: string;

  constructor(code: SecretErrorCode, message: string, options: { next: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.code = code;
    this.next = options.next;
  }
}
