import type { Touches as Named } from '@holdpoint/contract';
import { checkProgram, classifyCommand } from '../command/classify-command.ts';
import { type ParseOptions, parseCommand } from '../command/parse-command.ts';
import type { CommandPath, CommandWord, SimpleCommand } from '../command/simple-command.ts';
import type { CommandTable } from '../command/table/command-table.ts';
import { defaultCommandTable } from '../command/table/default-table.ts';
import type { CommandFact, Touches } from '../match/call-facts.ts';
import type { Pieces } from '../match/glob.ts';
import type { TouchedPath } from '../match/path-glob.ts';

/** The simple commands of a line as rules see them; `unparsed`: the shell parser cannot read it. */
export function commandFacts(
  line: string,
  { table = defaultCommandTable, ...options }: ParseOptions & { table?: CommandTable } = {},
): CommandFact[] | 'unparsed' {
  const parsed = parseCommand(line, options);
  if (!parsed.ok) return 'unparsed';
  // A variable that one command sets changes what the next ones do: `PATH=.; make`.
  const assigns = parsed.commands.some(({ assignments }) => assignments.length > 0);
  return parsed.commands.map((command) => ({
    class: classifyCommand(command, table).class,
    reads: onlyReads(command, table) || undefined,
    words: wordsOf(command),
    assigns,
    redirects: command.redirects.some(({ access, path, static: isStatic }) => {
      return access !== 'read' && !(isStatic && table.paths.sinks.includes(path));
    }),
    hosts: command.hosts.flatMap(({ host }) => host ?? []),
    paths: command.paths.map((path) => touched(path, command)),
  }));
}

/**
 * Whether a command only reads, by its program and its arguments, wherever it runs: in a subshell and in the background, too. A program that
 * only says its version (`node --version`) is left out: any program may be behind its name.
 */
function onlyReads(command: SimpleCommand, table: CommandTable): boolean {
  const { unknown, redirects, paths, hosts, program, bomb } = command;
  const { sinks } = table.paths;
  if (unknown !== undefined || bomb || hosts.length > 0 || checkProgram(command, table) !== undefined) return false;
  if (Object.hasOwn(table.programs, program) && saysItsVersion(table, program)) return command.wrapper;
  const opened = redirects.some(({ path, access }) => access !== 'read' && !sinks.includes(path));
  return !opened && !paths.some(({ path, access }) => access !== 'read' && !sinks.includes(path));
}

const saysItsVersion = ({ programs }: CommandTable, program: string): boolean =>
  programs[program]?.needs?.includes('--version') === true;

const unknownWord: Pieces = [null];

function wordsOf({ argv, unknown }: SimpleCommand): Pieces[] {
  const words = argv.map((word) => (word.static ? [word.value] : unknownWord));
  return unknown === undefined ? words : [unknownWord, ...words.slice(1)];
}

function touched({ path, access, known }: CommandPath, command: SimpleCommand): TouchedPath {
  // Braces and names that begin with a dot may become `..`.
  if (!known || /[{(]|(^|\/)\.[^/]*[*?[]/.test(path)) return { path: unknownWord, access, recursive: true };
  const recursive = access === 'delete' && reachesBelow(command);
  if (!/[*?[]/.test(path)) return { path, access, recursive };
  const pieces = path.split(/([*?[][^/]*)/).map((piece, index) => (index % 2 === 1 ? null : piece));
  return { path: pieces, access, recursive };
}

/** `rm` and `unlink` remove folders only with an option. */
const reachesBelow = ({ program, argv }: SimpleCommand): boolean =>
  !['rm', 'unlink', 'rmdir'].includes(program) || argv.some(isRecursive);

const isRecursive = ({ option, static: isStatic, value }: CommandWord): boolean =>
  option && (!isStatic || /^(-[^-]*[rR]|--r)/.test(value));

/** The paths, hosts and commands in a call's arguments, in the view of rules. */
export function describeTouches({ paths, hosts, command, argv, cwd, graph }: Named): Touches {
  const line = command ?? argv?.map(quote).join(' ');
  return { paths, hosts, graph, commands: line === undefined ? [] : commandFacts(line, { root: '/workspace', cwd }) };
}

export const nothingTouched: Touches = { paths: [], hosts: [], commands: [] };

/** A word taken literally by the shell. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
