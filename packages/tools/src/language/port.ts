/** A name at a place of a file. Lines count from 1. */
export interface NamedPlace {
  /** Relative to the root. */
  path: string;
  line: number;
  symbol: string;
}

/** A place in a file, with the text there. Lines and columns count from 1. */
interface Place {
  /** Relative to the root; absolute outside of the workspace, as in a library of the system. */
  path: string;
  line: number;
  column: number;
  text: string;
}

/** The first places, and the number of all. */
export interface Places {
  places: readonly Place[];
  total: number;
}

/** The changes of a rename in a file, in order. Offsets count UTF-16 units of the text without its byte order mark. */
export interface FileRename {
  path: string;
  /** Digest of the file that the offsets count in. */
  sha256: string;
  edits: readonly { start: number; end: number; text: string }[];
}

/** An error that a change brought into a file. */
interface TypeProblem {
  path: string;
  line: number;
  column: number;
  message: string;
}

/** The language servers of a run's workspace. */
export interface LanguagePort {
  /** The errors that a change brought, by the servers of the files' languages; none where they are not known in time. Never rejects. */
  diagnose(changes: readonly { path: string; before: Buffer; after: Buffer }[]): Promise<readonly TypeProblem[]>;
  /** The declaration of a name. @throws LanguageError */
  definition(named: NamedPlace): Promise<Places>;
  /** All places of a name, its declaration among them. @throws LanguageError */
  references(named: NamedPlace): Promise<Places>;
  /** The edits of a rename. Changes nothing. @throws LanguageError */
  rename(named: NamedPlace & { new_name: string }): Promise<readonly FileRename[]>;
}

/** A question without an answer. */
export class LanguageError extends Error {
  override readonly name = 'LanguageError';
  readonly code: string;
  readonly next: string;

  constructor(code: string, message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
