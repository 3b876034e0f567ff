import { type Arguments, readOptions } from './read-options.ts';
import type { CommandWord } from './simple-command.ts';
import { type Started, startScript, unknown } from './started.ts';
import type { Scope } from './walk.ts';
import { plainShellFlags } from './wrappers.ts';

/** The script of `bash -c`, or the text in a shell's input. */
export function startShell(
  dialect: Scope['dialect'],
  words: readonly CommandWord[],
  input: string | undefined,
): Started[] {
  const options = readOptions(words, { values: ['-o'], operandEndsFlags: true });
  const { flags, operands } = options;
  if (options.maybeFlags) return [unknown('a flag of the shell is not static')];
  const strange = flags.find(({ name }) => !(name.length === 2 && `${plainShellFlags}o`.includes(name[1]!)));
  if (strange) return isVersion(options) ? [] : [unknown(`${strange.name} may change what the shell runs`)];
  if (flags.some(({ name }) => name === '-c'))
    return operands[0] ? startScript([operands[0]], dialect) : [unknown('the shell has no script')];
  if (operands.length > 0 && !flags.some(({ name }) => name === '-s')) return [unknown('it runs a file')];
  // Its commands may consume a part of the text: the shell then runs another text than the parser reads.
  const reads = unknown('it runs what it reads');
  return input === undefined ? [reads] : [reads, { kind: 'script', text: input, dialect }];
}

function isVersion({ flags, operands }: Arguments): boolean {
  return operands.length === 0 && flags.length === 1 && flags[0]!.name === '--version';
}
