import { assigningBuiltins } from './evaluating-builtins.ts';
import { type Arguments, readOptions } from './read-options.ts';
import type { CommandAssignment, CommandWord, SimpleCommand } from './simple-command.ts';

/** Variables set by a builtin (`export A=b`, `read line`, `printf -v x`). An unknown name is `''`. */
export function listAssignments(command: SimpleCommand): CommandAssignment[] {
  const read = readNames(command);
  if (!read) return [];
  const found = read.names.map((word) => {
    const equals = word.value.indexOf('=');
    const name = equals < 0 ? word.value : word.value.slice(0, equals);
    const isNamed = word.static || (equals > 0 && !word.option);
    const value = word.static && equals >= 0 ? word.value.slice(equals + 1) : null;
    // `declare 'a=($(id))'` is read as an array: the quoted commands run.
    return { name: isNamed && !value?.startsWith('(') ? name : '', value };
  });
  return read.maybeFlags ? [...found, { name: '', value: null }] : found;
}

/** The words with names of variables to be set by a builtin. */
export function readNames({
  program,
  argv,
}: Pick<SimpleCommand, 'program' | 'argv'>): (Arguments & { names: CommandWord[] }) | undefined {
  if (!Object.hasOwn(assigningBuiltins, program)) return undefined;
  const builtin = assigningBuiltins[program]!;
  const read = readOptions(argv.slice(1), builtin);
  const { operands: which } = builtin;
  const operands = which === 'all' ? read.operands : read.operands.slice(which, which === undefined ? 0 : which + 1);
  const values = read.flags.flatMap(({ name, value }) => (builtin.names?.includes(name) && value ? [value] : []));
  return { ...read, names: [...operands, ...values] };
}
