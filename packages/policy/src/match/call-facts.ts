import type { CallerKind, CommandClass, Effect, Json, Risk } from '@holdpoint/contract';
import type { Pieces } from './glob.ts';
import type { TouchedPath } from './path-glob.ts';

/** A simple command in the view of rules. */
export interface CommandFact {
  class: CommandClass;
  /** The command only reads, by its program and its arguments. @default false */
  reads?: true | undefined;
  /**
   * The words, the program first. A `null` piece is decided by the shell at run time; a word with such a piece may become several words.
   */
  words: readonly Pieces[];
  /** Variables set for the command alone, for example `PATH=. make`: the executed program may differ from its name. */
  assigns: boolean;
  /** Its output goes to a file, listed in its paths. */
  redirects: boolean;
  /** Hosts named by its words. */
  hosts: readonly string[];
  /** The command's reads, writes and deletions, as far as its words show. */
  paths: readonly TouchedPath[];
}

/** The paths, commands and hosts of a call. A toolset computes the touches from the arguments alone. */
export interface Touches {
  paths: readonly TouchedPath[];
  /** The simple commands of a command line; `unparsed`: the call has an unreadable command line. */
  commands: readonly CommandFact[] | 'unparsed';
  /** `host`, `host:port` or a pattern of an allowlist. */
  hosts: readonly string[];
  /** The call asks the graph of the code. */
  graph?: 'read' | undefined;
}

/** A policy's whole knowledge of a call. */
export interface CallFacts {
  toolset: string;
  tool: string;
  effect: Effect;
  risk: Risk;
  /** As the caller wrote them. */
  args: Json;
  touches: Touches;
  labels: Readonly<Record<string, string>>;
  /** Absent in runs from before the introduction of callers: hold and deny rules by submitter apply. */
  submitted_by?: { name: string; kind: CallerKind } | undefined;
}
