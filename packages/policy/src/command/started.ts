import type { CommandAssignment, CommandWord } from './simple-command.ts';
import type { Scope } from './walk.ts';

/** A command or script started by a program. `elsewhere`: in an unknown directory. */
export type Started =
  | { kind: 'command'; words: CommandWord[]; assignments: CommandAssignment[]; elsewhere?: boolean }
  | { kind: 'script'; text: string; dialect?: Scope['dialect']; elsewhere?: boolean }
  | { kind: 'unknown'; reason: string };

export function unknown(reason: string): Started {
  return { kind: 'unknown', reason };
}

/** A script made of words, as `eval` and `ssh` join them. A dynamic script is read as written: the text may show a catastrophe. */
export function startScript(words: readonly CommandWord[], dialect?: Scope['dialect']): Started[] {
  const text = words.map(({ value }) => value).join(' ');
  const script: Started = dialect ? { kind: 'script', text, dialect } : { kind: 'script', text };
  return words.every((word) => word.static) ? [script] : [unknown('it runs a script that is not static'), script];
}
