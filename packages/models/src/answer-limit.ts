import { ModelError } from './errors.ts';

/** 128,000 tokens at 71 per second. */
export const defaultAnswerMs = 30 * 60_000;

export interface AnswerLimit extends Disposable {
  /** Aborts when the time of the answer is over, with a ModelError. */
  signal: AbortSignal;
}

/** Begins the time that one answer may take, from its request to its last byte. */
export function limitAnswer(model: string, ms: number): AnswerLimit {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(tooLong(model, ms)), ms);
  return { signal: over.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

const tooLong = (model: string, ms: number): ModelError =>
  new ModelError({
    code: 'EMODELCUTOFF',
    message: `${model} did not end its answer within ${ms / 1000} s. No part of the answer was used.`,
    next: 'Ask again, ask for less at once, or use a faster model; raise HOLDPOINT_MODEL_ANSWER_MS for a model that needs longer.',
  });
