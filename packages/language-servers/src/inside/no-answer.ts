import type { ServerProblem } from '../protocol.ts';

/** The question has no answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code: ServerProblem['code'];

  constructor(code: ServerProblem['code'], message: string) {
    super(message);
    this.code = code;
  }
}
