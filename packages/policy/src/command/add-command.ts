import { findEvaluated } from './find-evaluated.ts';
import { listAssignments } from './list-assignments.ts';
import { listHosts } from './list-hosts.ts';
import { listPaths, listRedirectPaths, resolvePath } from './list-paths.ts';
import { readOptions } from './read-options.ts';
import type { CommandWord, SimpleCommand } from './simple-command.ts';
import { startFound } from './start-found.ts';
import { startShell } from './start-shell.ts';
import { startWrapped } from './start-wrapped.ts';
import { type Started, unknown } from './started.ts';
import { anywhere, eitherDirectory, inSubshell, type Scope, type Walk, withoutText } from './walk.ts';
import { interpreters, shells, wrappers } from './wrappers.ts';

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
