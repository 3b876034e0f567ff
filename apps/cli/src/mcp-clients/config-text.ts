/** The command that a client starts. */
export interface Launch {
  command: string;
  args: readonly string[];
}

/** A change of a configuration, as text: comments, order and blanks of the user stay. */
export interface ConfigText {
  /** @returns whether the text has the entry. @throws ConfigTextError */
  has(text: string): boolean;
  /** @throws ConfigTextError */
  add(text: string, launch: Launch): string;
  /** Takes the entry out. A text without the entry is unchanged. @throws ConfigTextError */
  remove(text: string): string;
  /** The entry alone, to show. */
  show(launch: Launch): string;
}

/** The text is no valid configuration, so nothing is changed. @param line from 1 */
export class ConfigTextError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
