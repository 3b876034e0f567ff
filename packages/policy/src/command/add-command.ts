import { findEvaluated, listAssignments } from './find-evaluated.ts';
import { listHosts } from './list-hosts.ts';
import { listPaths, listRedirectPaths, resolvePath } from './list-paths.ts';
import { type Arguments, type Flag, readOptions } from './read-options.ts';
import { filledWord, opaqueWord } from './read-word.ts';
import type { CommandAssignment, CommandWord, SimpleCommand } from './simple-command.ts';
import { anywhere, eitherDirectory, inSubshell, type Scope, type Walk, withoutText } from './walk.ts';
import { interpreters, plainShellFlags, shells, type Wrapper, wrappers } from './wrappers.ts';

const starters = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** `find DIR… -exec COMMAND {} ;`: `{}` becomes the content of the directories. */
function startFound(words: readonly CommandWord[]): Started[] {
  const started: Started[] = [];
  const first = words.findIndex(({ value }) => value.startsWith('-') || value === '(' || value === '!');
  const roots = words.slice(0, first < 0 ? undefined : first);
  for (let at = 0; at < words.length; at += 1) {
    const { value } = words[at]!;
    if (!starters.has(value)) continue;
    const end = words.findIndex((word, index) => index > at && (word.value === ';' || word.value === '+'));
    const command = words.slice(at + 1, end < 0 ? undefined : end).flatMap((word) => fill(word, roots));
    if (command.length > 0)
      started.push({ kind: 'command', words: command, assignments: [], elsewhere: value.endsWith('dir') });
    if (end >= 0) at = end;
  }
  return started;
}

function fill(word: CommandWord, roots: readonly CommandWord[]): CommandWord[] {
  if (!word.value.includes('{}')) return [word];
  if (word.value !== '{}') return [filledWord(word, '{}')];
  if (roots.length === 0) return [below({ ...opaqueWord('.'), pattern: true })];
  return roots.map(below);
}

function below(root: CommandWord): CommandWord {
  return { ...root, value: `${root.value}${root.value.endsWith('/') ? '' : '/'}*`, static: false, several: true };
}

type Found = Pick<SimpleCommand, 'position'> & Partial<SimpleCommand>;

/** Adds a command with its program, then the commands started by the program. */
export function addCommand(walk: Walk, scope: Scope, words: CommandWord[], found: Found): void {
  const program = words[0]!;
  const name = program.static ? baseName(program.value) : '';
  const isBomb = scope.bodyOf.includes(program.value) && (scope.piped || scope.background);
  const command = addPart(walk, scope, { ...found, program: name, written: program.value, argv: words, bomb: isBomb });
  if (!program.static) command.unknown = 'the name of the program is not static';
  else if (name === '') command.unknown = 'the program has no name';
  command.unknown ??= findEvaluated(command);
  if (name === 'echo') command.prints = printed(words.slice(1));
  if (name === 'cat' && words.length === 1) command.prints = scope.text;
  changeDirectory(walk, command);
  start(walk, scope, command);
}

/** Adds the part without a program: assignments, redirects, and evaluations by the shell. */
export function addPart(walk: Walk, scope: Scope, found: Found): SimpleCommand {
  const command: SimpleCommand = {
    program: '',
    written: '',
    argv: [],
    assignments: [],
    redirects: [],
    hosts: [],
    paths: [],
    wrapper: false,
    substituted: [],
    bomb: false,
    ...found,
    background: scope.background,
    subshell: scope.subshell,
    input: [...scope.input],
  };
  command.assignments = [...command.assignments, ...listAssignments(command)];
  command.hosts = listHosts(command);
  command.paths = [...listPaths(command, walk), ...listRedirectPaths(command, walk)];
  walk.commands.push(command);
  return command;
}

function start(walk: Walk, scope: Scope, command: SimpleCommand): void {
  for (const started of findStarted(command, scope.text)) {
    command.wrapper = true;
    const add = () => addStarted(walk, scope, command, started);
    if (started.kind !== 'unknown' && started.elsewhere) anywhere(walk, add);
    else add();
  }
}

function addStarted(walk: Walk, scope: Scope, command: SimpleCommand, started: Started): void {
  const { substituted, position } = command;
  switch (started.kind) {
    case 'unknown':
      command.unknown = started.reason;
      break;
    case 'command':
      addCommand(walk, scope, started.words, { position, substituted, assignments: started.assignments });
      break;
    case 'script': {
      const dialect = started.dialect ?? scope.dialect;
      const inside = { ...withoutText(scope), dialect, depth: scope.depth + 1, place: position };
      const read = () => walk.readScript(started.text, inside);
      if (command.program === 'eval') read();
      else inSubshell(walk, read);
      break;
    }
    default:
      started satisfies never;
  }
}

/** The output of `echo`, when its arguments determine the output. */
function printed(words: CommandWord[]): string | undefined {
  const first = words.findIndex(({ value }) => !['-n', '-e', '-E', '-ne', '-en'].includes(value));
  const shown = first < 0 ? [] : words.slice(first);
  const text = shown.map(({ value }) => value).join(' ');
  return words.every((word) => word.static) && !text.includes('\\') ? text : undefined;
}

function baseName(written: string): string {
  return written.slice(written.lastIndexOf('/') + 1);
}

/** After `cd` the next command may run in the new directory or, when `cd` failed, in the old directory. */
function changeDirectory(walk: Walk, { program, argv }: SimpleCommand): void {
  if (program === 'pushd' || program === 'popd') walk.directories = [undefined];
  if (program !== 'cd') return;
  const { operands } = readOptions(argv.slice(1));
  const home = { value: '~', pattern: true, home: true };
  const target = operands[0] ?? home;
  const isKnown = operands.length < 2 && target.value !== '-' && !walk.functions.has('cd');
  const next = isKnown ? resolvePath(target, walk).map(({ path, known }) => (known ? path : undefined)) : [undefined];
  walk.entered = next;
  walk.directories = eitherDirectory(walk.directories, next);
}

/**
 * The commands started by a program, from its arguments and its standard input. Empty for a program without a known start of other
 * programs.
 */
function findStarted({ program, argv }: SimpleCommand, input: string | undefined): Started[] {
  const words = argv.slice(1);
  if (Object.hasOwn(wrappers, program)) return startWrapped(program, wrappers[program]!, words);
  if (Object.hasOwn(shells, program)) return startShell(shells[program]!, words, input);
  if (program === 'find') return startFound(words);
  if (program === 'source' || program === '.') return [unknown('it runs a file')];
  if (Object.hasOwn(interpreters, program) && words.length === 0) return [unknown('it runs what it reads')];
  return [];
}

/** The script of `bash -c`, or the text in a shell's input. */
function startShell(dialect: Scope['dialect'], words: readonly CommandWord[], input: string | undefined): Started[] {
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

/** The command started by a wrapper, for example `env` or `timeout`. */
function startWrapped(program: string, wrapper: Wrapper, words: readonly CommandWord[]): Started[] {
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

/** A command or script started by a program. `elsewhere`: in an unknown directory. */
type Started =
  | { kind: 'command'; words: CommandWord[]; assignments: CommandAssignment[]; elsewhere?: boolean }
  | { kind: 'script'; text: string; dialect?: Scope['dialect']; elsewhere?: boolean }
  | { kind: 'unknown'; reason: string };

function unknown(reason: string): Started {
  return { kind: 'unknown', reason };
}

/** A script made of words, as `eval` and `ssh` join them. A dynamic script is read as written: the text may show a catastrophe. */
function startScript(words: readonly CommandWord[], dialect?: Scope['dialect']): Started[] {
  const text = words.map(({ value }) => value).join(' ');
  const script: Started = dialect ? { kind: 'script', text, dialect } : { kind: 'script', text };
  return words.every((word) => word.static) ? [script] : [unknown('it runs a script that is not static'), script];
}
