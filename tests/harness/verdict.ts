/** The result of a check: the number of examined things, and the wrong things. */
export interface Verdict {
  name: string;
  looked: number;
  /** The unit of `looked`, for the printed line. */
  of: string;
  wrong: string[];
}

export const verdict = (name: string, looked: number, of: string, wrong: readonly string[]): Verdict => ({
  name,
  looked,
  of,
  wrong: [...wrong],
});
