import type { SimpleCommand } from './simple-command.ts';

/** The state of reading a line: the findings, and the remaining budget. */
export interface Walk {
  commands: SimpleCommand[];
  /** Where the next command may run, relative to the workspace. `undefined`: not known. */
  directories: Directories;
  /** The target of the last `cd`, on success. */
  entered: Directories;
  /** Functions defined by the line. */
  functions: Set<string>;
  /** Absolute path of the workspace in the view of the commands. */
  root: string | undefined;
  /** Why a part of the line cannot be read. */
  reason: string | undefined;
  nodes: number;
  /** Nodes around the present node. */
  depth: number;
  characters: number;
  /** Reads a nested script. */
  readScript(text: string, scope: Scope): void;
}

export type Directories = (string | undefined)[];

/** Where in the line a command stands. */
export interface Scope {
  dialect: 'bash' | 'posix' | 'literal';
  /** Scripts and expansions around the present script. */
  depth: number;
  background: boolean;
  piped: boolean;
  subshell: boolean;
  /** Functions whose body this is. */
  bodyOf: readonly string[];
  /** Programs with their output in the standard input. */
  input: readonly string[];
  /** The content of the standard input, when known from the line. */
  text?: string;
  /** Offset of positions, or the single place of all commands of a nested script. */
  place?: { start: number; end: number };
}

/** Over these bounds a line is not read. The slowest of 46 hostile lines takes 40 ms of a core at them; without them the parser takes 2.5 s. */
export const commandBounds = { characters: 16_384, scripts: 8, commands: 400, nodes: 4_000, depth: 150 };

/** The line cannot be read. Its message says why, for a person. */
export class Unreadable extends Error {}

/** Runs `body` where a change of directory does not last: a subshell, a pipe, a nested script. */
export function inSubshell(walk: Walk, body: () => void): void {
  const before = walk.directories;
  body();
  walk.directories = before;
}

/** The body may run in a later place of the line, after any `cd`. */
export function anywhere(walk: Walk, body: () => void): void {
  const before = walk.directories;
  walk.directories = [undefined];
  body();
  walk.directories = before;
}

/** A loop body with a change of directory runs in another place the second time. */
export function repeated(walk: Walk, body: () => void): void {
  const before = walk.directories;
  const first = walk.commands.length;
  body();
  if (walk.directories.every((directory) => before.includes(directory))) return;
  walk.commands.length = first;
  walk.directories = [undefined];
  body();
  walk.directories = [undefined];
}

export function withoutText({ text: _, ...scope }: Scope): Scope {
  return scope;
}

/** Either directory: the change may have failed, or may not have run. */
export function eitherDirectory(first: Directories, second: Directories): Directories {
  const all = [...new Set([...first, ...second])];
  return all.length > 4 ? [undefined] : all;
}

export function placeOf(node: { pos: number; end: number }, scope: Scope): { start: number; end: number } {
  return scope.place ?? { start: node.pos, end: node.end };
}
