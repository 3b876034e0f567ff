import { checkBlocked } from './check-blocked.ts';
import { checkProgram } from './check-program.ts';
import { checkSurroundings } from './check-surroundings.ts';
import type { CommandClass, CommandVerdict } from './command-class.ts';
import { type ParseOptions, parseCommand } from './parse-command.ts';
import type { ParsedCommand, SimpleCommand } from './simple-command.ts';
import type { CommandTable } from './table/command-table.ts';
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
