import type { CommandPath, SimpleCommand } from './simple-command.ts';
import type { BlockedRule, CommandTable, PathRules } from './table/command-table.ts';
import { interpreters } from './wrappers.ts';

/** Why a command is catastrophic. */
export function checkBlocked(command: SimpleCommand, table: CommandTable): string | undefined {
  if (command.bomb) return 'a function starts itself without end';
  const rule = table.blocked.find((blocked) => matches(blocked, command));
  if (rule) return rule.reason;
  const path = command.paths.find((touched) => isFatal(touched, table.paths));
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

function isFatal({ path, access, known }: CommandPath, { roots, trees, sinks }: PathRules): boolean {
  if (access === 'read' || sinks.includes(path)) return false;
  const parent = path.slice(0, path.lastIndexOf('/')) || (path.startsWith('/') ? '/' : '');
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (known && roots.includes(path)) return true;
  // `/*`, `~/.*`, `/{a,b}`: what lies in a root, at once.
  if (access === 'delete' && roots.includes(parent) && hasGlob(name)) return true;
  return trees.some((tree) => path.startsWith(`${tree}/`));
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
  const words = argv.slice(1);
  const isGiven = (name: string) =>
    words.some(({ value }) => value === name || (name.length === 2 && isLetter(value, name)));
  const hasCode = codeFlags?.some(isGiven) ?? true;
  const hasFile = words.some(({ value }) => !value.startsWith('-') && value !== '/dev/stdin');
  const sources = [...substituted, ...(hasCode || hasFile ? [] : input)];
  return sources.find((source) => untrusted.includes(source));
}

/** `-lc` has `-c`. */
function isLetter(value: string, name: string): boolean {
  return value.startsWith('-') && !value.startsWith('--') && value.includes(name[1]!);
}
