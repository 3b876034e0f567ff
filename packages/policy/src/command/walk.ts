import type { SimpleCommand } from './simple-command.ts';

/** What a reading of one line has found, and what it may still spend. */
export interface Walk {
  commands: SimpleCommand[];
  /** Where the next command may run, relative to the workspace. `undefined`: not known. */
  directories: Directories;
  /** Where the last `cd` leads when it works. */
  entered: Directories;
  /** Functions that the line defines. */
  functions: Set<string>;
  /** Absolute path of the workspace, as the commands see it. */
  root: string | undefined;
  /** Why a part of the line cannot be read. */
  reason: string | undefined;
  nodes: number;
  /** Nodes around the present one. */
  depth: number;
  characters: number;
  /** Reads a nested script. */
  readScript(text: string, scope: Scope): void;
}

export type Directories = (string | undefined)[];

/** Where in the line a command stands. */
export interface Scope {
  dialect: 'bash' | 'posix' | 'literal';
  /** Scripts and expansions around this one. */
  depth: number;
  background: boolean;
  piped: boolean;
  subshell: boolean;
  /** Functions whose body this is. */
  bodyOf: readonly string[];
  /** Programs that write the standard input. */
  input: readonly string[];
  /** What the standard input says, when the line says it. */
  text?: string;
  /** Offset that is added to positions, or the one place of all commands of a nested script. */
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

/** A body that changes the directory runs somewhere else the second time. */
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
