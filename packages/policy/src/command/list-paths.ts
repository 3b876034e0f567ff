import { posix } from 'node:path';
import { type ProgramFacts, programFacts } from './program-facts.ts';
import { type Arguments, readOptions } from './read-options.ts';
import type { CommandPath, CommandWord, PathAccess, SimpleCommand } from './simple-command.ts';
import type { Walk } from './walk.ts';

type Place = Pick<Walk, 'directories' | 'root'>;

/** The paths touched by a command, in each possible directory. */
export function listPaths(command: SimpleCommand, place: Place): CommandPath[] {
  const found = findFacts(command);
  if (!found) return [];
  const { facts, read, moved } = found;
  const words = [...pathOperands(facts, read), ...pathFlags(facts, read), ...namedPaths(facts, read)];
  const where = moved ? { ...place, directories: [undefined] } : place;
  return words.flatMap(([word, access]) => resolvePath(word, where).map((path) => ({ ...path, access })));
}

type Used = [Pick<CommandWord, 'value' | 'pattern' | 'home'>, PathAccess];

function pathOperands(
  { operands: use, last, skip = 0, skipsNone, changes, whole }: ProgramFacts,
  read: Arguments,
): Used[] {
  const isSkipping = !read.flags.some(({ name }) => skipsNone?.includes(name));
  const change = read.flags.map(({ name }) => lookUp(changes, name)).find((access) => access !== undefined);
  const access = change ?? use;
  if (!access) return [];
  const words = isSkipping ? read.operands.slice(skip) : read.operands;
  if (words.length === 0 && whole) return [[{ value: '.', pattern: true, home: false }, access]];
  return words.map((word, index) => [word, last && index > 0 && index === words.length - 1 ? last : access]);
}

function pathFlags({ paths }: ProgramFacts, { flags }: Arguments): Used[] {
  return flags.flatMap(({ name, value }) => {
    const access = lookUp(paths, name);
    return value && access ? [[value, access] satisfies Used] : [];
  });
}

function namedPaths({ named = {} }: ProgramFacts, { operands }: Arguments): Used[] {
  return operands.flatMap((word) =>
    Object.entries(named).flatMap(([name, access]) =>
      word.value.startsWith(name) ? [[{ ...word, value: word.value.slice(name.length) }, access] satisfies Used] : [],
    ),
  );
}

/** Long flags may be abbreviated. */
function lookUp(table: Readonly<Record<string, PathAccess>> | undefined, flag: string): PathAccess | undefined {
  return Object.entries(table ?? {}).find(
    ([name]) => name === flag || (flag.startsWith('--') && name.startsWith(flag)),
  )?.[1];
}

/** The files of redirects, without the empty devices. */
export function listRedirectPaths({ redirects }: Pick<SimpleCommand, 'redirects'>, place: Place): CommandPath[] {
  return redirects.flatMap((redirect) => {
    const word = { value: redirect.path, pattern: redirect.static, home: redirect.path.startsWith('~') };
    const access = redirect.access === 'read' ? 'read' : 'write';
    return resolvePath(word, place).map((path) => ({ ...path, access }) as const);
  });
}

/** The targets of a word, from each possible directory of the command. */
export function resolvePath(
  { value, pattern, home }: Pick<CommandWord, 'value' | 'pattern' | 'home'>,
  { directories, root }: Place,
): { path: string; known: boolean }[] {
  if (!pattern && !home) return [{ path: value, known: false }];
  if (home || value.startsWith('/')) return [{ path: belowRoot(normalize(value, home), root), known: pattern }];
  return directories.map((directory) =>
    directory === undefined
      ? { path: value, known: false }
      : { path: belowRoot(normalize(`${directory}/${value}`, directory.startsWith('~')), root), known: true },
  );
}

/** `~/..` is kept: the path leads out of the home directory, not to the workspace. */
function normalize(path: string, home: boolean): string {
  const plain = posix.normalize(path);
  if (!home) return plain.startsWith('~') ? `./${plain}` : plain;
  const slash = path.indexOf('/');
  const rest = slash < 0 ? '.' : posix.normalize(`.${path.slice(slash)}`);
  return rest === '.' || rest === './'
    ? path.slice(0, slash < 0 ? undefined : slash)
    : `${path.slice(0, slash)}/${rest}`;
}

function belowRoot(path: string, root: string | undefined): string {
  const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (root === undefined) return plain;
  if (plain === root) return '.';
  return plain.startsWith(`${root}/`) ? plain.slice(root.length + 1) : plain;
}

/** The facts about a command's program or sub-command, and its arguments read by these facts. */
export function findFacts({
  program,
  argv,
}: SimpleCommand): { facts: ProgramFacts; read: Arguments; moved: boolean } | undefined {
  let facts = Object.hasOwn(programFacts, program) ? programFacts[program] : undefined;
  let words = argv.slice(1);
  let moved = false;
  while (facts?.subcommands) {
    const { flags, operands, places } = readOptions(words, { ...facts, operandEndsFlags: true });
    moved ||= flags.some(({ name }) => facts?.moves?.includes(name));
    const name = operands[0]?.static ? operands[0].value : '';
    facts = Object.hasOwn(facts.subcommands, name) ? facts.subcommands[name] : undefined;
    words = words.slice((places[0] ?? 0) + 1);
  }
  return facts && { facts, read: readOptions(words, facts), moved };
}
