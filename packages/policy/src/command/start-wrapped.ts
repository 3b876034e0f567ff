import { type Flag, readOptions } from './read-options.ts';
import { filledWord, opaqueWord } from './read-word.ts';
import type { CommandAssignment, CommandWord } from './simple-command.ts';
import { type Started, startScript, unknown } from './started.ts';
import type { Wrapper } from './wrappers.ts';

/** The command started by a wrapper, for example `env` or `timeout`. */
export function startWrapped(program: string, wrapper: Wrapper, words: readonly CommandWord[]): Started[] {
  const { flags, places, maybeFlags } = readOptions(words, { ...wrapper, operandEndsFlags: true });
  if (flags.some(({ name }) => wrapper.idle?.includes(name))) return [];
  if (maybeFlags) return [unknown(`a flag of ${program} is not static`)];
  const strange = flags.find(({ name }) => !isKnown(wrapper, program, name));
  if (strange) return [unknown(`${program} ${strange.name} may start anything`)];
  const assignments: CommandAssignment[] = [];
  let first = places[0] ?? words.length;
  while (wrapper.assignments && words[first]?.value.includes('=')) {
    assignments.push(readAssignment(words[first]!));
    first += 1;
  }
  first += wrapper.skip ?? 0;
  // A word that becomes several words would move the place of the command's beginning.
  if (words.slice(0, first).some((word) => word.several)) return [unknown(`an argument of ${program} is not static`)];
  const rest = words.slice(first);
  if (rest.length === 0) return assignments.length > 0 ? [unknown('it shows variables')] : [];
  const elsewhere = isMoved(wrapper, flags);
  const all = startRest(wrapper, flags, rest, assignments);
  return all.map((started) => (started.kind === 'unknown' ? started : { ...started, elsewhere }));
}

function startRest(
  wrapper: Wrapper,
  flags: readonly Flag[],
  rest: CommandWord[],
  assignments: CommandAssignment[],
): Started[] {
  if (wrapper.starts === 'script') return startScript(wrapper.oneWord ? rest.slice(0, 1) : rest);
  if (!wrapper.appends) return [{ kind: 'command', words: rest, assignments }];
  const replaced = flags.find(({ name }) => name === '-I')?.value?.value;
  return [{ kind: 'command', words: addInput(rest, replaced), assignments }];
}

function isMoved({ moves }: Wrapper, flags: readonly Flag[]): boolean {
  return moves === 'always' || flags.some(({ name }) => moves?.includes(name));
}

function readAssignment({ value, static: isStatic }: CommandWord): CommandAssignment {
  const equals = value.indexOf('=');
  return { name: value.slice(0, equals), value: isStatic ? value.slice(equals + 1) : null };
}

/** `nice -10` has its number as a flag. */
function isKnown({ flags, values }: Wrapper, program: string, name: string): boolean {
  if (flags?.includes(name) || values?.includes(name)) return true;
  return program === 'nice' && name.length === 2 && name[1]! >= '0' && name[1]! <= '9';
}

/** The input of `xargs` is added at the end, or takes the place of the text named by `-I`. */
function addInput(words: CommandWord[], replaced: string | undefined): CommandWord[] {
  if (replaced === undefined) return [...words, opaqueWord('…')];
  return words.map((word) => (word.value.includes(replaced) ? filledWord(word, replaced) : word));
}
