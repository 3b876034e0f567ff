import type { CommandClass } from '../command-class.ts';
import type { OptionSyntax } from '../read-options.ts';

/**
 * The classes of commands: safe, in need of care, or catastrophic. A toolset may bring its own. A command without an entry is `caution`.
 */
export interface CommandTable {
  programs: Readonly<Record<string, ProgramRule>>;
  /** Programs as safe as the programs they start. */
  wrappers: readonly string[];
  /** The folders of trusted programs: a path in such a folder counts as the plain name. */
  directories: readonly string[];
  variables: VariableRules;
  paths: PathRules;
  blocked: readonly BlockedRule[];
  /** Programs whose output, run as a script, is catastrophic (`curl … | sh`). */
  untrusted: readonly string[];
  /** Class of a `( … )`, and of a background command, when all commands inside are safe. */
  subshell: CommandClass;
  background: CommandClass;
}

/**
 * When a program is `class` (default safe). An argument forbidden by a rule, or with a possible expansion into a forbidden argument, makes
 * the program `caution`.
 */
export interface ProgramRule extends OptionSyntax {
  class?: CommandClass;
  /** Forbidden flags. A long flag matches its abbreviations, too. */
  except?: readonly string[];
  /** The only permitted flags. */
  only?: readonly string[];
  /** The program must have any of these flags. */
  needs?: readonly string[];
  /** Most operands. */
  operands?: number;
  /** Each operand starts with any of these. */
  operandStarts?: readonly string[];
  /** Scripts in a language of its own, in the first operand or as values of `flags`: each matches a pattern of the list, in linear time. */
  scripts?: { flags: readonly string[]; safe: readonly RegExp[] };
  /** The first operand names a rule of its own. */
  subcommands?: Readonly<Record<string, ProgramRule>>;
  /** Without a sub-command the program is safe with any of these flags. An empty list: with any. */
  bare?: readonly string[];
}

export interface VariableRules {
  /** Variables without a dangerous effect on any program. Names in lower case are safe as well, but for `except`. */
  safe: readonly string[];
  /** Variables safe with these values alone. */
  values: Readonly<Record<string, readonly string[]>>;
  except: readonly string[];
}

export interface PathRules {
  /** Deleting, moving or overwriting such a folder, or all its content, is catastrophic. */
  roots: readonly string[];
  /** Writing or deleting anything in these is catastrophic. */
  trees: readonly string[];
  /** The parts of `trees` open to writes. */
  open: readonly string[];
  /** Empty devices: a write to such a file is no write. */
  sinks: readonly string[];
  /** Names of files and folders with secrets, and the starts of their paths: reading them needs care. */
  sensitive: readonly string[];
  /** Folders made by builds: deleting them, or inside them, loses nothing. */
  buildFolders: readonly string[];
}

/** Catastrophic. All given fields must match. */
export interface BlockedRule {
  programs: readonly string[];
  /** Any argument equals any of these. */
  words?: readonly string[];
  /** The last argument equals any of these. */
  last?: readonly string[];
  reason: string;
}
