export type SecretErrorCode =
  /** No provider has a secret with this name. */
  | 'ESECRETUNKNOWN'
  /** The value cannot be used as it is: too short, or with characters that its use does not take. */
  | 'ESECRETVALUE'
  /** A folder, a file or the key lets others read it, belongs to someone else, or cannot be read. */
  | 'ESECRETACCESS'
  /** An entry of the store was changed or cut, or the key is another one. */
  | 'ESECRETSTORE'
  /** There is no key, so there is no encrypted store. */
  | 'ESECRETSTOREOFF'
  /** Another provider has a secret with this name, which the store would hide. */
  | 'ESECRETTAKEN';

/** A secret cannot be read or set. No message has a value in it. */
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
