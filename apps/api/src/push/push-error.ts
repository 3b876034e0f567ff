/** A subscription that cannot be taken. */
export class PushError extends Error {
  override readonly name = 'PushError';
  readonly code: 'invalid_push_subscription' | 'too_many_push_subscriptions';
  /** The faulty place in the request. */
  readonly pointer: string | undefined;

  constructor(code: PushError['code'], message: string, pointer?: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}
