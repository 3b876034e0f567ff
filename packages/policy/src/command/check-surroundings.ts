import type { CommandAssignment, SimpleCommand } from './simple-command.ts';
import type { CommandTable, VariableRules } from './table/command-table.ts';

/** The reason why a command needs care, independent of its program: its assignments, writes and reads, and its directory. */
export function checkSurroundings(command: SimpleCommand, table: CommandTable): string | undefined {
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
