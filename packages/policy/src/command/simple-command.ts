import type { PathAccess } from '@holdpoint/contract';

/** One word of a command line after quotes are removed. */
export interface CommandWord {
  /** The text that the program gets. A part that only the shell knows stays as written, `$HOME` becomes `~`. */
  value: string;
  /** The program gets exactly `value`: no expansion, no glob, no braces. */
  static: boolean;
  /** All but its globs is known, so `value` is a pattern. Always true for a static word. */
  pattern: boolean;
  /** Begins with an unquoted `~` or with `$HOME`. */
  home: boolean;
  /** May become no word, or several: an unquoted expansion, a glob, braces. */
  several: boolean;
  /** Begins with `-`, or may become one or several words that do. */
  option: boolean;
}

export type { PathAccess };

/**
 * A path that a command touches: relative to the workspace (`src/a.ts`, `../x`), absolute, or below `~`.
 * `known` is false when an expansion decides where it leads; `path` is then as written. Globs stay in `path`.
 */
export interface CommandPath {
  path: string;
  access: PathAccess;
  known: boolean;
}

/** A host that a command connects to. `null` when only the command knows it (a remote's name, a variable, a registry). */
export interface CommandHost {
  host: string | null;
}

/** `null` for a value that is not static. */
export interface CommandAssignment {
  name: string;
  value: string | null;
}

export interface CommandRedirect {
  path: string;
  access: 'read' | 'write' | 'append';
  static: boolean;
}

/** One command that may run, wherever the line hides it. */
export interface SimpleCommand {
  /** Base name. `''` for assignments or redirects without a program, and when `unknown` says so. */
  program: string;
  /** The program as written, without quotes: `/bin/rm`, `./rm`, `$x`. */
  written: string;
  /** Program and arguments. */
  argv: CommandWord[];
  /** Variables that are set, for this command or for what follows. */
  assignments: CommandAssignment[];
  redirects: CommandRedirect[];
  background: boolean;
  hosts: CommandHost[];
  /** Read, written and deleted paths of programs that the path table knows, and of redirects. */
  paths: CommandPath[];
  /** Why it is not known what this command runs. */
  unknown?: string;
  /** It only starts the commands that `parseCommand` lists after it (`env`, `bash -c`). */
  wrapper: boolean;
  /** Programs that write its standard input, and programs whose output is part of its arguments. */
  input: string[];
  substituted: string[];
  /** In `( … )`. */
  subshell: boolean;
  /** The body of a function that starts the same function again in a pipe or in the background. */
  bomb: boolean;
  /** What `echo` or `cat` prints, when the line says it. */
  prints?: string | undefined;
  /** Offsets in the line, in UTF-16 units. A command in a nested script has the place of that script. */
  position: { start: number; end: number };
}

/** When a line cannot be read, `commands` are those that were found all the same. There may be more. */
export type ParsedCommand =
  | { ok: true; commands: SimpleCommand[] }
  | { ok: false; reason: string; commands: SimpleCommand[] };
