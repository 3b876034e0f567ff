import { type Arguments, readOptions } from './read-options.ts';
import { opaqueWord } from './read-word.ts';
import type { CommandAssignment, CommandWord, SimpleCommand } from './simple-command.ts';
import type { Scope } from './walk.ts';
import { interpreters, plainShellFlags, shells, type Wrapper, wrappers } from './wrappers.ts';

export type Started =
  | { kind: 'command'; words: CommandWord[]; assignments: CommandAssignment[] }
  | { kind: 'script'; text: string; dialect?: Scope['dialect'] }
  | { kind: 'unknown'; reason: string };

/** What a program starts, as its arguments and its standard input say. Empty for a program that is not known to start another one. */
export function findStarted(command: SimpleCommand, input: string | undefined): Started[] {
  const { program, argv } = command;
  const words = argv.slice(1);
  const wrapper = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined;
  if (wrapper) return startWrapped(program, wrapper, words);
  const dialect = Object.hasOwn(shells, program) ? shells[program] : undefined;
  if (dialect) return startShell(dialect, words, input);
  if (program === 'find') return startFound(words);
  if (program === 'source' || program === '.') return [unknown('it runs a file')];
  if (Object.hasOwn(interpreters, program) && words.length === 0) return [unknown('it runs what it reads')];
  return [];
}

function startWrapped(program: string, wrapper: Wrapper, words: CommandWord[]): Started[] {
  const { flags, operands, places, maybeFlags } = readOptions(words, { ...wrapper, operandEndsFlags: true });
  if (flags.some(({ name }) => wrapper.idle?.includes(name))) return [];
  if (maybeFlags) return [unknown(`a flag of ${program} is not static`)];
  const strange = flags.find(({ name }) => !isKnown(wrapper, program, name));
  if (strange) return [unknown(`${program} ${strange.name} may start anything`)];
  let first = places[0] ?? words.length;
  const assignments: CommandAssignment[] = [];
  while (wrapper.assignments && words[first]?.value.includes('=')) {
    const { value, static: isStatic } = words[first]!;
    const equals = value.indexOf('=');
    assignments.push({ name: value.slice(0, equals), value: isStatic ? value.slice(equals + 1) : null });
    first += 1;
  }
  const rest = words.slice(first + (wrapper.skip ?? 0));
  if (operands.length === 0 || rest.length === 0) return wrapper.appends ? [] : bare(assignments);
  if (wrapper.starts === 'script') return startScript(wrapper.oneWord ? rest.slice(0, 1) : rest);
  if (!wrapper.appends) return [{ kind: 'command', words: rest, assignments }];
  const replaced = flags.find(({ name }) => name === '-I')?.value?.value;
  return [{ kind: 'command', words: addInput(rest, replaced), assignments }];
}

function bare(assignments: CommandAssignment[]): Started[] {
  return assignments.length > 0 ? [unknown('it shows variables')] : [];
}

/** `nice -10` has its number as a flag. */
function isKnown(wrapper: Wrapper, program: string, name: string): boolean {
  if (wrapper.flags?.includes(name) || wrapper.values?.includes(name)) return true;
  return program === 'nice' && name.length === 2 && name[1]! >= '0' && name[1]! <= '9';
}

function addInput(words: CommandWord[], replaced: string | undefined): CommandWord[] {
  if (replaced === undefined) return [...words, opaqueWord('…')];
  return words.map((word) => (word.value.includes(replaced) ? opaqueWord(word.value) : word));
}

function startScript(words: CommandWord[], dialect?: Scope['dialect']): Started[] {
  const dynamic = words.find((word) => !word.static);
  if (dynamic) return [unknown('it runs a script that is not static')];
  const text = words.map(({ value }) => value).join(' ');
  return [dialect ? { kind: 'script', text, dialect } : { kind: 'script', text }];
}

function startShell(dialect: Scope['dialect'], words: CommandWord[], input: string | undefined): Started[] {
  const options = readOptions(words, { values: ['-o'], operandEndsFlags: true });
  if (options.maybeFlags) return [unknown('a flag of the shell is not static')];
  const strange = options.flags.find(({ name }) => !(name.length === 2 && `${plainShellFlags}o`.includes(name[1]!)));
  if (strange) return isVersion(options) ? [] : [unknown(`${strange.name} may change what the shell runs`)];
  if (options.flags.some(({ name }) => name === '-c')) {
    const script = options.operands[0] ? words.slice(options.places[0], options.places[0]! + 1) : [];
    return script.length === 0 ? [unknown('the shell has no script')] : startScript(script, dialect);
  }
  const readsInput = options.operands.length === 0 || options.flags.some(({ name }) => name === '-s');
  if (!readsInput) return [unknown('it runs a file')];
  return input === undefined ? [unknown('it runs what it reads')] : [{ kind: 'script', text: input, dialect }];
}

function isVersion({ flags, operands }: Arguments): boolean {
  return operands.length === 0 && flags.length === 1 && flags[0]!.name === '--version';
}

const execFlags = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** `find DIR… -exec COMMAND {} ;`: `{}` becomes what lies below the directories. */
function startFound(words: CommandWord[]): Started[] {
  const started: Started[] = [];
  const roots = words.slice(
    0,
    words.findIndex(({ value }) => value.startsWith('-') || value === '(' || value === '!'),
  );
  for (let at = 0; at < words.length; at += 1) {
    if (!execFlags.has(words[at]!.value)) continue;
    const end = words.findIndex(({ value }, index) => index > at && (value === ';' || value === '+'));
    const command = words.slice(at + 1, end < 0 ? undefined : end);
    const found = command.flatMap((word) =>
      word.value === '{}' ? belowRoots(roots) : [word.value.includes('{}') ? opaqueWord(word.value) : word],
    );
    if (found.length > 0) started.push({ kind: 'command', words: found, assignments: [] });
    at += command.length;
  }
  return started;
}

function belowRoots(roots: CommandWord[]): CommandWord[] {
  const paths = roots.length > 0 ? roots : [{ ...opaqueWord('.'), pattern: true }];
  return paths.map((root) => ({
    ...root,
    value: `${root.value}${root.value.endsWith('/') ? '' : '/'}*`,
    static: false,
  }));
}

function unknown(reason: string): Started {
  return { kind: 'unknown', reason };
}
