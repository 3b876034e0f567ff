/** A question without an answer. Every other error comes from the infrastructure. */
export class CodeGraphError extends Error {
  override readonly name = 'CodeGraphError';
  /** `EQUERY`: the question is wrong. `ETIMEOUT`: not answered in time. `EQUOTA`: the answer, or the graph, is too large. */
  readonly code: 'EQUERY' | 'ETIMEOUT' | 'EQUOTA';
  readonly next: string;

  constructor(code: CodeGraphError['code'], message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
