/** How to start a language server. All paths are paths inside the sandbox. */
export interface ServerStart {
  /** The server's own name, for errors. */
  name: string;
  /** The program `node` is the Node of the program inside. */
  argv: readonly [program: string, ...args: string[]];
  env: Readonly<Record<string, string>>;
  /** The folder with the project: absolute. */
  root: string;
  /** `initializationOptions` of LSP. */
  options: unknown;
  /** The answer to `workspace/configuration`, by section. */
  settings: Readonly<Record<string, unknown>>;
  /** Names of files whose changes the server has to hear of: endings with a dot, or whole names. */
  watches: readonly string[];
}

/** A file before and after a change. An empty text before: the change made the file. */
export interface ChangedText {
  /** Relative to the workspace. */
  path: string;
  before: string;
  after: string;
}

/** A name at a place of a file. Lines count from 1. */
export interface NamedPlace {
  path: string;
  line: number;
  symbol: string;
}

/** A line of JSON for the program inside. The first request is `start`. `wait_ms`: the answer says what is known by then. */
export type ServerRequest =
  | { ask: 'start'; server: ServerStart; wait_ms: number }
  | { ask: 'diagnostics'; files: readonly ChangedText[]; wait_ms: number }
  | ({ ask: 'definition' | 'references'; wait_ms: number } & NamedPlace)
  | ({ ask: 'rename'; new_name: string; wait_ms: number } & NamedPlace);

/** An error that a change brought into a file. Lines and columns count from 1. */
export interface TypeProblem {
  path: string;
  line: number;
  column: number;
  message: string;
}

/** A place in a file, with the text there. */
export interface Place {
  /** Relative to the workspace; absolute outside of it, as in a library of the system. */
  path: string;
  line: number;
  column: number;
  /** The line, or the first lines of the declaration. */
  text: string;
}

/** The changes of a rename in a file. Offsets count UTF-16 units of the text without its byte order mark. */
export interface FileRename {
  path: string;
  /** Digest of the file that the offsets count in. */
  sha256: string;
  edits: { start: number; end: number; text: string }[];
}

/** A question without an answer. */
export interface ServerProblem {
  code: 'ENOSYMBOL' | 'ENOPLACE' | 'ERENAME' | 'EREFUSED' | 'ESERVER' | 'ETIMEOUT';
  message: string;
}

/** The answer's line. */
export type ServerReply =
  | { started: true }
  | { problems: TypeProblem[] }
  | { places: Place[]; total: number }
  | { files: FileRename[] }
  | { problem: ServerProblem };
