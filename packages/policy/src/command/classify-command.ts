import { checkProgram } from './check-program.ts';
import type { CommandClass, CommandVerdict } from './command-class.ts';
import { findFacts } from './list-paths.ts';
import { type ParseOptions, parseCommand } from './parse-command.ts';
import { readOptions } from './read-options.ts';
import type { CommandAssignment, CommandPath, CommandWord, ParsedCommand, SimpleCommand } from './simple-command.ts';
import type { BlockedRule, CommandTable, PathRules, VariableRules } from './table/command-table.ts';
import { defaultCommandTable } from './table/default-table.ts';
import { interpreters } from './wrappers.ts';

const safe: CommandVerdict = { class: 'safe', reason: 'it only reads' };

/** The class of a simple command. Blocked rules come first, then whatever is not known to be safe is `caution`. */
export function classifyCommand(command: SimpleCommand, table: CommandTable = defaultCommandTable): CommandVerdict {
  const blocked = checkBlocked(command, table);
  if (blocked) return { class: 'blocked', reason: blocked };
  const caution = checkSurroundings(command, table) ?? checkProgram(command, table);
  return caution ? { class: 'caution', reason: caution } : safe;
}

/** The class of a whole line: the worst of its parts. An unreadable line needs care. */
export function classifyLine(
  line: string | ParsedCommand,
  table: CommandTable = defaultCommandTable,
  options: ParseOptions = {},
): CommandVerdict {
  const parsed = typeof line === 'string' ? parseCommand(line, options) : line;
  const first: CommandVerdict = parsed.ok
    ? safe
    : { class: 'caution', reason: `the command cannot be read: ${parsed.reason}` };
  return parsed.commands.reduce((worst, command) => worseVerdict(worst, classifyCommand(command, table)), first);
}

const order: CommandClass[] = ['safe', 'caution', 'blocked'];

function worseVerdict(first: CommandVerdict, second: CommandVerdict): CommandVerdict {
  return order.indexOf(second.class) > order.indexOf(first.class) ? second : first;
}

/** The reason why a command needs care, independent of its program: its assignments, writes and reads, and its directory. */
function checkSurroundings(command: SimpleCommand, table: CommandTable): string | undefined {
  if (command.unknown !== undefined) return command.unknown;
  const variable = command.assignments.find((assignment) => !isHarmless(assignment, table.variables));
  if (variable) return `it sets ${variable.name || 'a variable'}`;
  const redirect = command.redirects.find(({ path, access, static: isStatic }) =>
    access === 'read' ? !isStatic : !table.paths.sinks.includes(path),
  );
  if (redirect) return `it opens ${redirect.path}`;
  const written = command.paths.find(({ path, access }) => access !== 'read' && !table.paths.sinks.includes(path));
  if (written) return `it would ${written.access} ${written.path}`;
  const host = command.hosts[0];
  if (host) return `it connects to ${host.host ?? 'a host'}`;
  const secret = [...command.argv.map(({ value }) => value), ...command.redirects.map(({ path }) => path)].find(
    (word) => isSensitive(word, table.paths.sensitive),
  );
  if (secret !== undefined) return `${secret} may hold secrets`;
  if (command.subshell && table.subshell !== 'safe') return 'it runs in a subshell';
  if (command.background && table.background !== 'safe') return 'it runs in the background';
  return undefined;
}

function isHarmless({ name, value }: CommandAssignment, { safe, values, except }: VariableRules): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name)) return false;
  if (Object.hasOwn(values, name)) return value !== null && values[name]!.includes(value);
  return safe.includes(name) || (name === name.toLowerCase() && name !== '_' && !except.includes(name));
}

function isSensitive(word: string, sensitive: readonly string[]): boolean {
  const paths = [word, word.slice(word.indexOf('=') + 1)];
  return paths.some((path) => {
    const segments = path.split('/');
    return sensitive.some((entry) => (entry.startsWith('/') ? path.startsWith(entry) : segments.includes(entry)));
  });
}

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
