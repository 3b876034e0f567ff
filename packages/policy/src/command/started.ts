import type { CommandAssignment, CommandWord } from './simple-command.ts';
import type { Scope } from './walk.ts';

/** What a program starts. `elsewhere`: in a directory that is not known. */
export type Started =
  | { kind: 'command'; words: CommandWord[]; assignments: CommandAssignment[]; elsewhere?: boolean }
  | { kind: 'script'; text: string; dialect?: Scope['dialect']; elsewhere?: boolean }
  | { kind: 'unknown'; reason: string };

export function unknown(reason: string): Started {
  return { kind: 'unknown', reason };
}

/** A script that words make, as `eval` and `ssh` join them. */
export function startScript(words: readonly CommandWord[], dialect?: Scope['dialect']): Started {
  if (words.some((word) => !word.static)) return unknown('it runs a script that is not static');
  const text = words.map(({ value }) => value).join(' ');
  return dialect ? { kind: 'script', text, dialect } : { kind: 'script', text };
}
