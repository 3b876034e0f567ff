import type { CommandClass } from '../command-class.ts';
import type { OptionSyntax } from '../read-options.ts';

/** Which commands are safe, need care, or are catastrophic. A toolset may bring its own. What no entry names is `caution`. */
export interface CommandTable {
  programs: Readonly<Record<string, ProgramRule>>;
  /** Programs that are as safe as what they start. */
  wrappers: readonly string[];
  /** Where a program written with a path lies, for it to be the program of that name. */
  directories: readonly string[];
  variables: VariableRules;
  paths: PathRules;
  blocked: readonly BlockedRule[];
  /** Programs whose output, run as a script, is catastrophic (`curl … | sh`). */
  untrusted: readonly string[];
  /** Class of a `( … )`, and of a background command, when all in it is safe. */
  subshell: CommandClass;
  background: CommandClass;
}

/** When a program is `class` (default safe). An argument that a rule forbids, or that may become one, makes it `caution`. */
export interface ProgramRule extends OptionSyntax {
  class?: CommandClass;
  /** Flags that it must not have. A long flag matches its abbreviations, too. */
  except?: readonly string[];
  /** The only flags that it may have. */
  only?: readonly string[];
  /** It must have one of these flags. */
  needs?: readonly string[];
  /** Most operands. */
  operands?: number;
  /** Each operand starts with one of these. */
  operandStarts?: readonly string[];
  /** Scripts in a language of its own, in the first operand or as values of `flags`: each matches one of these, in linear time. */
  scripts?: { flags: readonly string[]; safe: readonly RegExp[] };
  /** The first operand names a rule of its own. */
  subcommands?: Readonly<Record<string, ProgramRule>>;
  /** Without a sub-command it is safe with one of these flags. An empty list: with any. */
  bare?: readonly string[];
}

export interface VariableRules {
  /** Variables that change no program's behaviour in a dangerous way. Names in lower case are safe as well, but for `except`. */
  safe: readonly string[];
  /** Variables that are safe with these values alone. */
  values: Readonly<Record<string, readonly string[]>>;
  except: readonly string[];
}

export interface PathRules {
  /** Deleting, moving or overwriting one of these, or all that lies in it, is catastrophic. */
  roots: readonly string[];
  /** Writing or deleting anything in these is catastrophic. */
  trees: readonly string[];
  /** What may be written in `trees` all the same. */
  open: readonly string[];
  /** Files that hold nothing: writing to them is no write. */
  sinks: readonly string[];
  /** Names of files and folders that hold secrets, and the starts of such paths: reading them needs care. */
  sensitive: readonly string[];
  /** Folders that builds make: deleting them, or in them, loses nothing. */
  buildFolders: readonly string[];
}

/** Catastrophic. All that is given must match. */
export interface BlockedRule {
  programs: readonly string[];
  /** One argument is one of these. */
  words?: readonly string[];
  /** The last argument is one of these. */
  last?: readonly string[];
  reason: string;
}
