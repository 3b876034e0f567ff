/** What a check says: how much it looked at, and what does not hold. */
export interface Verdict {
  name: string;
  looked: number;
  /** What was counted, for the line. */
  of: string;
  wrong: string[];
}

export const verdict = (name: string, looked: number, of: string, wrong: readonly string[]): Verdict => ({
  ...{ name, looked, of },
  wrong: [...wrong],
});
