import type { CallerKind, CommandClass, Effect, Json, Risk } from '@holdpoint/contract';
import type { Pieces } from '../match/glob.ts';
import type { TouchedPath } from '../match/path-glob.ts';

/** A simple command as rules see it. */
export interface CommandFact {
  class: CommandClass;
  /** It only reads, by its program and its arguments. @default false */
  reads?: true | undefined;
  /** The words, the program first. A `null` piece is what the shell decides when it runs; a word that has one may become several words. */
  words: readonly Pieces[];
  /** Variables that are set for the command alone, such as `PATH=. make`: it may be another program than its name says. */
  assigns: boolean;
  /** Its output goes to a file, which is one of its paths. */
  redirects: boolean;
  /** Hosts that its words name. */
  hosts: readonly string[];
  /** What the command reads, writes and deletes, as far as its words show. */
  paths: readonly TouchedPath[];
}

/** What a call would touch. A toolset computes it from the arguments alone. */
export interface Touches {
  paths: readonly TouchedPath[];
  /** The simple commands of a command line; `unparsed`: there is one, and it could not be parsed. */
  commands: readonly CommandFact[] | 'unparsed';
  /** `host`, `host:port` or a pattern of an allowlist. */
  hosts: readonly string[];
  /** The call asks the graph of the code. */
  graph?: 'read' | undefined;
}

/** All that a policy knows about a call. */
export interface CallFacts {
  toolset: string;
  tool: string;
  effect: Effect;
  risk: Risk;
  /** As the caller wrote them. */
  args: Json;
  touches: Touches;
  labels: Readonly<Record<string, string>>;
  /** Absent in runs from before there were callers: rules that hold or deny by submitter apply. */
  submitted_by?: { name: string; kind: CallerKind } | undefined;
}
