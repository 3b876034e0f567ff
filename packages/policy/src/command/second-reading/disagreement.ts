/** The text contradicts the parser's tree. Its message says why, for a person. */
export class Disagreement extends Error {
  /** Where in the text. */
  readonly at: number;

  constructor(why: string, at: number) {
    super(why);
    this.at = at;
  }
}

export function refuse(why: string, at: number): never {
  throw new Disagreement(why, at);
}
