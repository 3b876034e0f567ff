import { parse } from 'unbash';
import { findDisagreement } from './second-reading/find-disagreement.ts';
import type { ParsedCommand } from './simple-command.ts';
import { visit } from './visit-node.ts';
import { commandBounds, type Scope, Unreadable, type Walk } from './walk.ts';

export interface ParseOptions {
  /** Absolute path of the workspace in the view of the command. Paths below the workspace become relative. */
  root?: string;
  /** Where the command starts, relative to the workspace. Default `.`. */
  cwd?: string | undefined;
}

/**
 * Every simple command a line for bash may run, in subshells, substitutions, here-documents, wrappers and nested scripts too. Never throws.
 */
export function parseCommand(line: string, { root, cwd = '.' }: ParseOptions = {}): ParsedCommand {
  const walk: Walk = {
    commands: [],
    directories: [cwd],
    entered: [cwd],
    functions: new Set(),
    root,
    reason: undefined,
    nodes: 0,
    depth: 0,
    characters: 0,
    readScript: (text, scope) => readScript(walk, text, scope),
  };
  const scope: Scope = {
    dialect: 'bash',
    depth: 0,
    background: false,
    piped: false,
    subshell: false,
    bodyOf: [],
    input: [],
  };
  const { commands } = walk;
  try {
    readScript(walk, line, scope);
  } catch (error) {
    walk.reason = unreadable(error);
  }
  return walk.reason === undefined ? { ok: true, commands } : { ok: false, reason: walk.reason, commands };
}

function unreadable(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  // The parser recurses without a bound in a few places (`coproc coproc …`); Node stops the recursion before the process is in danger.
  if (error instanceof RangeError) return 'it is nested too deeply';
  throw error;
}

function readScript(walk: Walk, text: string, scope: Scope): void {
  walk.characters += text.length;
  if (walk.characters > commandBounds.characters)
    throw new Unreadable(`it is longer than ${commandBounds.characters} characters`);
  if (scope.depth > commandBounds.scripts) throw new Unreadable('scripts are nested too deeply');
  // Bash drops or cuts at this character, the parser keeps the character.
  if (text.includes('\0')) throw new Unreadable('it has a null character');
  const script = parse(text);
  visit(walk, script, scope);
  walk.reason ??= findDisagreement(text, script);
}
