import type { PathAccess } from '@holdpoint/contract';

/** A word of a command line after quotes are removed. */
export interface CommandWord {
  /** The text passed to the program. A part known to the shell alone is kept as written, `$HOME` becomes `~`. */
  value: string;
  /** The program gets exactly `value`: no expansion, no glob, no braces. */
  static: boolean;
  /** All but its globs is known, so `value` is a pattern. Always true for a static word. */
  pattern: boolean;
  /** Begins with an unquoted `~` or with `$HOME`. */
  home: boolean;
  /** May become no word, or several: an unquoted expansion, a glob, braces. */
  several: boolean;
  /** Begins with `-`, or may become words with a leading `-`. */
  option: boolean;
}

export type { PathAccess };

/**
 * A path touched by a command: relative to the workspace (`src/a.ts`, `../x`), absolute, or below `~`. `known` is false when an expansion
 * decides about the target; `path` is then as written. Globs stay in `path`.
 */
export interface CommandPath {
  path: string;
  access: PathAccess;
  known: boolean;
}

/** A host of a command's connection. `null` when only the command knows the host (a remote's name, a variable, a registry). */
export interface CommandHost {
  host: string | null;
}

/** `null` for a dynamic value. */
export interface CommandAssignment {
  name: string;
  value: string | null;
}

export interface CommandRedirect {
  path: string;
  access: 'read' | 'write' | 'append';
  static: boolean;
}

/** A command with a possible execution, wherever the line hides the command. */
export interface SimpleCommand {
  /** Base name. `''` for assignments or redirects without a program, and when `unknown` says so. */
  program: string;
  /** The program as written, without quotes: `/bin/rm`, `./rm`, `$x`. */
  written: string;
  /** Program and arguments. */
  argv: CommandWord[];
  /** Variables set for this command or for later commands. */
  assignments: CommandAssignment[];
  redirects: CommandRedirect[];
  background: boolean;
  hosts: CommandHost[];
  /** Read, written and deleted paths of programs in the path table, and of redirects. */
  paths: CommandPath[];
  /** The reason why the executed program is unknown. */
  unknown?: string;
  /** The command only starts the commands listed behind by `parseCommand` (`env`, `bash -c`). */
  wrapper: boolean;
  /** Programs with their output in its standard input, and programs with their output in its arguments. */
  input: string[];
  substituted: string[];
  /** In `( … )`. */
  subshell: boolean;
  /** The body of a function with a start of the same function in a pipe or in the background. */
  bomb: boolean;
  /** The output of `echo` or `cat`, when known from the line. */
  prints?: string | undefined;
  /** Offsets in the line, in UTF-16 units. A command in a nested script has the place of the script. */
  position: { start: number; end: number };
}

/** For an unreadable line, `commands` are the commands found all the same. There may be more. */
export type ParsedCommand =
  | { ok: true; commands: SimpleCommand[] }
  | { ok: false; reason: string; commands: SimpleCommand[] };
