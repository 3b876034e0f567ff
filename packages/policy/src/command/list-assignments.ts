import { declarations } from './program-facts.ts';
import { readOptions } from './read-options.ts';
import type { CommandAssignment, SimpleCommand } from './simple-command.ts';

/** Variables that a builtin sets (`export A=b`, `read line`). A name that is not static is `''`. */
export function listAssignments({ program, argv }: SimpleCommand): CommandAssignment[] {
  if (!Object.hasOwn(declarations, program)) return [];
  const { operands, flags, maybeFlags } = readOptions(argv.slice(1), declarations[program]);
  const arrays = flags.flatMap(({ name, value }) => (name === '-a' && value ? [value] : []));
  const found = [...operands, ...arrays].map((word) => {
    const equals = word.value.indexOf('=');
    const name = equals < 0 ? word.value : word.value.slice(0, equals);
    const isNamed = word.static || (equals > 0 && !word.option);
    const value = word.static && equals >= 0 ? word.value.slice(equals + 1) : null;
    // `declare 'a=($(id))'` is read as an array: what is in quotes runs.
    return { name: isNamed && !value?.startsWith('(') ? name : '', value };
  });
  return maybeFlags ? [...found, { name: '', value: null }] : found;
}
