/** A mistake in a document. */
export interface PolicyProblem {
  /** JSON pointer into the document. */
  pointer: string;
  detail: string;
}
