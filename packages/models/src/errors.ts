/** Every way in which a model request fails. */
export type ModelErrorCode =
  /** The model's name cannot be used: wrong form or unknown provider. */
  | 'EMODELNAME'
  /** A key or a base URL is missing or wrong in the settings. */
  | 'EMODELSETTINGS'
  /** The provider asks for fewer requests. */
  | 'EMODELRATELIMIT'
  /** The provider cannot be reached, is overloaded, or failed inside. */
  | 'EMODELUNAVAILABLE'
  /** The answer began and did not arrive whole. */
  | 'EMODELCUTOFF'
  /** The provider refuses the key. */
  | 'EMODELAUTH'
  /** The account has no credit left. */
  | 'EMODELQUOTA'
  /** The provider refuses this request. */
  | 'EMODELREQUEST'
  /** What came back is not an answer of this provider. */
  | 'EMODELANSWER'
  /** An answer arrived whole, and is more than a worker may work on: too large, too deep, too many values. */
  | 'EMODELUNUSABLE'
  /** A fault nobody has met yet. */
  | 'EMODELUNKNOWN';

/** Codes for which the same request may succeed later. */
const retryableCodes: ReadonlySet<ModelErrorCode> = new Set(['EMODELRATELIMIT', 'EMODELUNAVAILABLE', 'EMODELCUTOFF']);

export interface ModelErrorDetails {
  code: ModelErrorCode;
  message: string;
  /** What to do now, one sentence. */
  next: string;
  /** HTTP status, where there was an answer. */
  status?: number | undefined;
  /** Milliseconds the provider asks to wait. */
  retryAfterMs?: number | undefined;
}

/** A failed model request. Carries no prompt, no answer and no key, so it may be logged and shown. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly next: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(details: ModelErrorDetails, options?: { cause?: unknown }) {
    super(details.message, options);
    this.code = details.code;
    this.retryable = retryableCodes.has(details.code);
    this.next = details.next;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export const unusableNext =
  'Resume the run to ask again. If the answer stays so, say in a message that each answer should do less, or use another model.';

/** @param reason completes a sentence: "its answer …" */
export function unusableAnswer(reason: string): ModelError {
  const message = `The provider's answer ${reason}: it is too much to be worked on, and nothing of it was used.`;
  return new ModelError({ code: 'EMODELUNUSABLE', message, next: unusableNext });
}
