import { findFacts } from './find-facts.ts';
import { readOptions } from './read-options.ts';
import type { CommandPath, CommandWord, SimpleCommand } from './simple-command.ts';
import type { BlockedRule, CommandTable, PathRules } from './table/command-table.ts';
import { interpreters } from './wrappers.ts';

/** Why a command is catastrophic. */
export function checkBlocked(command: SimpleCommand, table: CommandTable): string | undefined {
  if (command.bomb) return 'a function starts itself without end';
  const rule = table.blocked.find((blocked) => matches(blocked, command));
  if (rule) return rule.reason;
  const into = findFacts(command)?.facts.last !== undefined;
  const path = command.paths.find((touched) => isFatal(touched, table.paths, into));
  if (path) return `it would ${path.access} ${path.path}`;
  const source = findUntrusted(command, table);
  return source && `it runs what ${source} fetches`;
}

function matches({ programs, words, last }: BlockedRule, { program, argv }: SimpleCommand): boolean {
  if (!programs.some((name) => (name.endsWith('*') ? program.startsWith(name.slice(0, -1)) : program === name)))
    return false;
  const values = argv.slice(1).map(({ value }) => value);
  if (words && !values.some((value) => words.includes(value))) return false;
  return !last || last.includes(values.at(-1) ?? '');
}

function isFatal(
  { path, access, known }: CommandPath,
  { roots, trees, open, sinks }: PathRules,
  into: boolean,
): boolean {
  if (access === 'read' || sinks.includes(path) || open.some((tree) => path.startsWith(`${tree}/`))) return false;
  const at = path.lastIndexOf('/');
  const parent = path.slice(0, at) || (path.startsWith('/') ? '/' : '');
  // Another user's `~name` is a home directory, too.
  const isRoot = roots.includes(path) || (path.startsWith('~') && at < 0);
  // To copy a file into a root directory is not to overwrite the directory.
  if (known && isRoot && !(into && access === 'write')) return true;
  // `/*`, `~/.*`: all content of a root directory.
  if (access === 'delete' && roots.includes(parent) && hasGlob(path.slice(at + 1))) return true;
  // `chmod 777 /*`
  if (parent === '/' && /^[.?]*\*[*?]*$/.test(path.slice(at + 1))) return true;
  return trees.some((tree) => path.startsWith(`${tree}/`) || (into && path === tree));
}

function hasGlob(name: string): boolean {
  return ['*', '?', '[', '{'].some((sign) => name.includes(sign));
}

/** A program of the network whose output a shell or an interpreter runs. */
function findUntrusted(command: SimpleCommand, { untrusted }: CommandTable): string | undefined {
  const { program, argv, input, substituted } = command;
  const runsArguments = program === 'eval' || program === 'source' || program === '.';
  const codeFlags = Object.hasOwn(interpreters, program) ? interpreters[program]! : undefined;
  if (!codeFlags && !runsArguments) return undefined;
  const sources = codeFlags && readsInput(argv.slice(1), codeFlags) ? [...substituted, ...input] : substituted;
  return sources.find((source) => untrusted.includes(source));
}

/** Without a file and code in the arguments, the program runs its input. */
function readsInput(words: readonly CommandWord[], codeFlags: readonly string[]): boolean {
  const { flags, operands } = readOptions(words, { values: ['-o', ...codeFlags], operandEndsFlags: true });
  if (flags.some(({ name }) => codeFlags.includes(name))) return false;
  const file = operands[0]?.value;
  return file === undefined || file === '-' || file === '/dev/stdin' || flags.some(({ name }) => name === '-s');
}
