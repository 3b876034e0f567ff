import { posix } from 'node:path';
import { findFacts } from './find-facts.ts';
import type { CommandPath, CommandWord, PathAccess, SimpleCommand } from './simple-command.ts';
import type { Walk } from './walk.ts';

type Place = Pick<Walk, 'directories' | 'root'>;

/** The paths that a command touches, in each directory where it may run. */
export function listPaths(command: SimpleCommand, place: Place): CommandPath[] {
  const found = findFacts(command);
  if (!found) return [];
  const { facts, read } = found;
  const { flags } = read;
  const change = flags.find(({ name }) => facts.changes && Object.hasOwn(facts.changes, name));
  const access = change ? facts.changes![change.name] : facts.operands;
  const skip = flags.some(({ name }) => facts.skipsNone?.includes(name)) ? 0 : (facts.skip ?? 0);
  const paths: [CommandWord, PathAccess][] = [];
  read.operands.slice(skip).forEach((word, index, { length }) => {
    const isLast = facts.last !== undefined && index === length - 1 && length > 1;
    const use = isLast ? facts.last : access;
    if (use) paths.push([word, use]);
  });
  if (command.program === 'find' && paths.length === 0 && access) paths.push([workspaceWord, access]);
  for (const { name, value } of flags)
    if (value && facts.paths && Object.hasOwn(facts.paths, name)) paths.push([value, facts.paths[name]!]);
  for (const word of read.operands)
    for (const [name, use] of Object.entries(facts.named ?? {}))
      if (word.value.startsWith(name)) paths.push([{ ...word, value: word.value.slice(name.length) }, use]);
  return paths.flatMap(([word, use]) => resolvePath(word, place).map((path) => ({ ...path, access: use })));
}

/** The files of redirects, without those that hold nothing. */
export function listRedirectPaths({ redirects }: Pick<SimpleCommand, 'redirects'>, place: Place): CommandPath[] {
  return redirects.flatMap((redirect) => {
    const word = { value: redirect.path, pattern: redirect.static, home: redirect.path.startsWith('~') };
    const access = redirect.access === 'read' ? 'read' : 'write';
    return resolvePath(word, place).map((path) => ({ ...path, access }) as const);
  });
}

const workspaceWord: CommandWord = { value: '.', static: true, pattern: true, home: false, option: false };

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

/** `~/..` stays as it is: it leads out of the home directory, not to the workspace. */
function normalize(path: string, home: boolean): string {
  if (!home) return posix.normalize(path);
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
