import type { SimpleCommand } from './simple-command.ts';
import { startFound } from './start-found.ts';
import { startShell } from './start-shell.ts';
import { startWrapped } from './start-wrapped.ts';
import { type Started, unknown } from './started.ts';
import { interpreters, shells, wrappers } from './wrappers.ts';

/**
 * The commands started by a program, from its arguments and its standard input. Empty for a program without a known start of other
 * programs.
 */
export function findStarted({ program, argv }: SimpleCommand, input: string | undefined): Started[] {
  const words = argv.slice(1);
  if (Object.hasOwn(wrappers, program)) return startWrapped(program, wrappers[program]!, words);
  if (Object.hasOwn(shells, program)) return startShell(shells[program]!, words, input);
  if (program === 'find') return startFound(words);
  if (program === 'source' || program === '.') return [unknown('it runs a file')];
  if (Object.hasOwn(interpreters, program) && words.length === 0) return [unknown('it runs what it reads')];
  return [];
}
