import type { CommandClass, CommandVerdict } from './command-class.ts';
import { findFacts } from './list-paths.ts';
import { type ParseOptions, parseCommand } from './parse-command.ts';
import { type OptionSyntax, readOptions } from './read-options.ts';
import type { CommandAssignment, CommandPath, CommandWord, ParsedCommand, SimpleCommand } from './simple-command.ts';
import type { BlockedRule, CommandTable, PathRules, ProgramRule, VariableRules } from './table/command-table.ts';
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

/** The reason why a program with these arguments needs care. None for a program called safe by the table. */
export function checkProgram(command: SimpleCommand, table: CommandTable): string | undefined {
  const { program, written, argv, wrapper } = command;
  if (program === '') return undefined;
  if (written !== program && !table.directories.includes(written.slice(0, written.lastIndexOf('/') + 1)))
    return `${written} may be another program than ${program}`;
  if (wrapper && table.wrappers.includes(program)) return undefined;
  const rule = Object.hasOwn(table.programs, program) ? table.programs[program] : undefined;
  if (!rule) return `${program} is not known to be safe`;
  return checkRule(program, rule, argv.slice(1));
}

function checkRule(name: string, rule: ProgramRule, words: readonly CommandWord[]): string | undefined {
  if (rule.class && rule.class !== 'safe') return `${name} is not known to be safe`;
  const { operands, places } = readOptions(words, { ...rule, ...(rule.subcommands && { operandEndsFlags: true }) });
  // The first operand is checked as well: a dynamic operand may be a flag.
  const end = rule.subcommands || rule.operandEndsFlags ? (places[0] ?? words.length) + 1 : words.length;
  const wrong = checkFlags(name, rule, words.slice(0, end)) ?? checkOperands(name, rule, words, operands);
  if (wrong !== undefined || !rule.subcommands) return wrong;
  const [command] = operands;
  if (!command) {
    const isSafe = rule.bare && (rule.bare.length === 0 || words.some(({ value }) => rule.bare!.includes(value)));
    return isSafe ? undefined : `${name} needs a sub-command`;
  }
  const inner =
    command.static && Object.hasOwn(rule.subcommands, command.value) ? rule.subcommands[command.value] : undefined;
  if (!inner) return `${name} ${command.value} is not known to be safe`;
  return checkRule(`${name} ${command.value}`, inner, words.slice(places[0]! + 1));
}

/** Checks every word with a leading `-`, also behind `--` or in the place of a value: programs differ in their reading of both. */
function checkFlags(name: string, rule: ProgramRule, words: readonly CommandWord[]): string | undefined {
  const flags = words.flatMap(({ value }) => (value.startsWith('-') ? splitFlag(value, rule) : []));
  const missing = rule.needs && !rule.needs.some((flag) => flags.includes(flag));
  if (missing) return `${name} is safe with ${rule.needs!.join(', ')} only`;
  if (!rule.only && !rule.except) return undefined;
  const isFree = (index: number) => {
    const before = words[index - 1];
    return !(before?.static && rule.values?.includes(before.value));
  };
  if (words.some((word, index) => word.option && !word.static && (word.several || isFree(index))))
    return `an argument of ${name} may become a flag`;
  const wrong = flags.find(
    (flag) => rule.only?.includes(flag) === false || rule.except?.some((bad) => isFlag(flag, bad)),
  );
  return wrong && `${name} ${wrong} is not known to be safe`;
}

function checkOperands(
  name: string,
  rule: ProgramRule,
  words: readonly CommandWord[],
  operands: CommandWord[],
): string | undefined {
  const { operands: most, operandStarts, scripts } = rule;
  if (most !== undefined && (operands.length > most || operands.some((word) => word.several)))
    return `${name} writes to an argument`;
  if (operandStarts && !operands.every(({ value }) => operandStarts.some((start) => value.startsWith(start))))
    return `${name} changes what it is given`;
  if (!scripts) return undefined;
  const given = readOptions(words, rule).flags.flatMap((flag) =>
    scripts.flags.includes(flag.name) ? [flag.value] : [],
  );
  const all = given.length > 0 ? given : operands.slice(0, 1);
  const isSafe =
    all.length > 0 && all.every((word) => word?.static && scripts.safe.some((safe) => safe.test(word.value)));
  return isSafe ? undefined : `the script of ${name} is not known to be safe`;
}

function splitFlag(value: string, { style, values }: OptionSyntax): string[] {
  if (value === '-' || (value === '--' && style !== 'word')) return [];
  if (style === 'word') return [value];
  if (value.startsWith('--')) return [value.split('=', 1)[0]!];
  const letters = [...value.slice(1)];
  const valued = letters.findIndex((letter) => values?.includes(`-${letter}`));
  return (valued < 0 ? letters : letters.slice(0, valued + 1)).map((letter) => `-${letter}`);
}

/** Long flags may be abbreviated. */
function isFlag(flag: string, bad: string): boolean {
  return flag === bad || (flag.startsWith('--') && bad.startsWith(flag));
}
