import { assigningBuiltins, changingBuiltins } from './evaluating-builtins.ts';
import { type Arguments, readOptions } from './read-options.ts';
import type { CommandAssignment, CommandWord, SimpleCommand } from './simple-command.ts';

type Words = Pick<SimpleCommand, 'program' | 'argv'>;

/** The reason why a builtin of bash may run a command hidden from the arguments, or change the meaning of the words behind. */
export function findEvaluated(command: Words): string | undefined {
  if (command.program === 'test' || command.program === '[') return findInTest(command.argv.slice(1));
  return findInNames(command) ?? findChange(command);
}

function findInNames(command: Words): string | undefined {
  const read = readNames(command);
  if (!read) return undefined;
  const { evaluates, arrays } = assigningBuiltins[command.program]!;
  const flag = read.flags.find(({ name }) => evaluates?.includes(name));
  if (flag) return `${command.program} ${flag.name} evaluates a value`;
  if (!read.names.every(isPlainName)) return 'a subscript is evaluated as arithmetic';
  return arrays && read.names.some(mayBeArray) ? `${command.program} may read a value as an array` : undefined;
}

/** `a`, `a=…`, or a name whose value alone is not known. */
function isPlainName({ value, static: isStatic, option }: CommandWord): boolean {
  const [, equals, start] = /^[A-Za-z_]\w*(\+?=)?(.?)/.exec(value) ?? [];
  if (isStatic) return /^[A-Za-z_]\w*(?:\+?=|$)/.test(value) && start !== '(';
  return equals !== undefined && !option && start !== '(';
}

/** Bash reads a value in parentheses again, with its substitutions, where the variable is an array: `x=(); declare "x=$y"`. */
const mayBeArray = ({ value, static: isStatic }: CommandWord): boolean =>
  !isStatic && !/^[A-Za-z_]\w*\+?=[\w./:@%,=+-]/.test(value);

function findChange({ program, argv }: Words): string | undefined {
  if (!Object.hasOwn(changingBuiltins, program)) return undefined;
  const changing = changingBuiltins[program]!;
  const { operands, flags, maybeFlags } = readOptions(argv.slice(1), changing);
  const { operands: pattern, flags: changes } = changing;
  const isAlways = !pattern && !changes && argv.length > 1;
  const isFlagged = flags.some(({ name, value }) => changes?.includes(name) || (value && mayChange(value)));
  const isNamed = pattern && operands.some((word) => !word.static || pattern.test(word.value));
  const isOpen = maybeFlags && changes !== undefined;
  return isAlways || isFlagged || isNamed || isOpen ? `${program} may change what the shell runs` : undefined;
}

/** Options of `set -o`: assignments behind the program, the rules of POSIX with their aliases, `!` for earlier lines. */
const mayChange = ({ value, static: isStatic }: CommandWord): boolean =>
  !isStatic || ['keyword', 'posix', 'histexpand', 'history'].includes(value);

const numeric = ['$#', '$?', '$$', '$!'];

/** `test -v a[…]` evaluates the subscript. An unknown word may be the operator. */
function findInTest(words: readonly CommandWord[]): string | undefined {
  const isUnknown = words.some((word, index) => {
    if (numeric.includes(word.value)) return false;
    if (word.several) return true;
    const next = words[index + 1];
    const mayAsk = word.static ? word.value === '-v' || word.value === '-R' : word.option;
    return mayAsk && next !== undefined && !isHarmless(next, word.static);
  });
  return isUnknown ? 'a test of a variable evaluates its subscript' : undefined;
}

/** Behind a possible `-v`: an operator, or a name without a subscript. */
function isHarmless({ value, static: isStatic }: CommandWord, isAsked: boolean): boolean {
  if (!isStatic) return false;
  return isAsked ? /^\w+$/.test(value) : !value.includes('[');
}

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
function readNames({
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
