import { checkProgram } from './check-program.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { CommandTable } from './table/command-table.ts';

/**
 * Whether a command only reads, by its program and its arguments, wherever it runs: in a subshell and in the background, too. A program that
 * only says its version (`node --version`) is left out: any program may be behind its name.
 */
export function onlyReads(command: SimpleCommand, table: CommandTable): boolean {
  const { unknown, redirects, paths, hosts, program, bomb } = command;
  const { sinks } = table.paths;
  if (unknown !== undefined || bomb || hosts.length > 0 || checkProgram(command, table) !== undefined) return false;
  if (Object.hasOwn(table.programs, program) && saysItsVersion(table, program)) return command.wrapper;
  const opened = redirects.some(({ path, access }) => access !== 'read' && !sinks.includes(path));
  return !opened && !paths.some(({ path, access }) => access !== 'read' && !sinks.includes(path));
}

const saysItsVersion = ({ programs }: CommandTable, program: string): boolean =>
  programs[program]?.needs?.includes('--version') === true;
