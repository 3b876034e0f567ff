import type { FileFacts, SyntaxProblem } from '../facts.ts';

/** A line of JSON, followed by the bytes of the file. */
export interface ParseRequest {
  /** A name with the extension of the file, or the whole name of a file without an extension. */
  name: string;
  bytes: number;
  /** Asks for the syntax errors of a change instead of facts: the first `before` bytes are the file before, the rest is the file after. */
  before?: number;
}

/** `errors`: those that the change brought. */
export type CheckReply = { errors: SyntaxProblem[] } | { unparsed: string };

export type ParseReply = { language: string; facts: FileFacts } | { language?: string; unparsed: string };
