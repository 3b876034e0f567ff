export type ModelErrorCode =
  /** The name of the model has a wrong form or an unknown provider. */
  | 'EMODELNAME'
  /** A key or a base URL is missing or wrong in the settings. */
  | 'EMODELSETTINGS'
  /** The provider asks for fewer requests. */
  | 'EMODELRATELIMIT'
  /** The provider cannot be reached, is overloaded, or has an internal error. */
  | 'EMODELUNAVAILABLE'
  /** The answer began and is incomplete. */
  | 'EMODELCUTOFF'
  /** The provider refuses the key. */
  | 'EMODELAUTH'
  /** The account has no credit left. */
  | 'EMODELQUOTA'
  /** The provider does not answer this conversation, by its policy. */
  | 'EMODELPOLICY'
  /** The request is longer than the window of the model. */
  | 'EMODELCONTEXT'
  /** The provider refuses this request. */
  | 'EMODELREQUEST'
  /** The received body is not an answer of this provider. */
  | 'EMODELANSWER'
  /** A complete answer is too large for a worker: too many bytes, levels or values. */
  | 'EMODELUNUSABLE'
  /** An unexpected failure. */
  | 'EMODELUNKNOWN';

/** Codes of failures after which the same request may succeed. */
const retryableCodes: ReadonlySet<ModelErrorCode> = new Set(['EMODELRATELIMIT', 'EMODELUNAVAILABLE', 'EMODELCUTOFF']);

export interface ModelErrorDetails {
  code: ModelErrorCode;
  message: string;
  /** The next step, in a sentence. */
  next: string;
  /** The HTTP status when there was an answer. */
  status?: number | undefined;
  /** The wait in milliseconds requested by the provider. */
  retryAfterMs?: number | undefined;
  /** The window of the model in tokens, when the provider names the window. */
  window?: number | undefined;
}

/** A failed model request. Carries no prompt, no answer and no key: logs and terminals may show the error. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly next: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** With EMODELCONTEXT: the window of the model in tokens, when the provider names the window. */
  readonly window: number | undefined;

  constructor(details: ModelErrorDetails, options?: { cause?: unknown }) {
    super(details.message, options);
    this.code = details.code;
    this.retryable = retryableCodes.has(details.code);
    this.next = details.next;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.window = details.window;
  }
}

export const unusableNext =
  'Resume the run to ask again. If this happens again, send a message that each answer should do less, or use another model.';

/** @param reason completes a sentence: "its answer …" */
export function unusableAnswer(reason: string): ModelError {
  const message = `The provider's answer ${reason}: it is too large to process, and no part of it was used.`;
  return new ModelError({ code: 'EMODELUNUSABLE', message, next: unusableNext });
}
