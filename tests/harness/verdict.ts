/** The result of a check: how many things it examined, and which of them are wrong. */
export interface Verdict {
  name: string;
  looked: number;
  /** What `looked` counts, for the printed line. */
  of: string;
  wrong: string[];
}

export const verdict = (name: string, looked: number, of: string, wrong: readonly string[]): Verdict => ({
  name,
  looked,
  of,
  wrong: [...wrong],
});
