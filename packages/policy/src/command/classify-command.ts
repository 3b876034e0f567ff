import { checkBlocked } from './check-blocked.ts';
import { checkProgram } from './check-program.ts';
import type { CommandClass, CommandVerdict } from './command-class.ts';
import { type ParseOptions, parseCommand } from './parse-command.ts';
import type { CommandAssignment, ParsedCommand, SimpleCommand } from './simple-command.ts';
import type { CommandTable, VariableRules } from './table/command-table.ts';
import { defaultCommandTable } from './table/default-table.ts';

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
