import type { OptionSyntax } from './read-options.ts';

/**
 * A builtin of bash with assignments to variables. Bash evaluates the subscript of their names as arithmetic, and arithmetic runs commands:
 * `a[$(id)]`.
 */
export interface AssigningBuiltin extends OptionSyntax {
  /** The operands with names, with or without a value: all, or a single operand. */
  operands?: 'all' | number;
  /** Flags whose value is a name. */
  names?: readonly string[];
  /** Flags by which bash evaluates a value. */
  evaluates?: readonly string[];
  /** Bash reads a value in parentheses as an array. */
  arrays?: boolean;
}

const declaration: AssigningBuiltin = { operands: 'all', evaluates: ['-i', '-n'], arrays: true };
const lines: AssigningBuiltin = {
  operands: 'all',
  values: ['-d', '-n', '-O', '-s', '-u', '-C', '-c'],
  evaluates: ['-C', '-O'],
};

export const assigningBuiltins: Readonly<Record<string, AssigningBuiltin>> = {
  declare: declaration,
  export: { operands: 'all' },
  getopts: { operands: 1, operandEndsFlags: true },
  local: declaration,
  mapfile: lines,
  printf: { names: ['-v'], values: ['-v'], operandEndsFlags: true },
  read: { operands: 'all', names: ['-a'], values: ['-a', '-d', '-i', '-n', '-N', '-p', '-t', '-u'] },
  readarray: lines,
  readonly: { operands: 'all', arrays: true },
  typeset: declaration,
  unset: { operands: 'all' },
  wait: { names: ['-p'], values: ['-p'] },
};

/** Builtins that run code of their arguments, or change how bash reads later words. Without `operands` and `flags`: always. */
export interface ChangingBuiltin extends OptionSyntax {
  operands?: RegExp;
  flags?: readonly string[];
}

export const changingBuiltins: Readonly<Record<string, ChangingBuiltin>> = {
  alias: { operands: /=/ },
  bind: {},
  compgen: {},
  complete: {},
  compopt: {},
  enable: {},
  fc: {},
  hash: { flags: ['-p'] },
  jobs: { flags: ['-x'] },
  let: {},
  set: { values: ['-o'], flags: ['-k', '-H'], operandEndsFlags: true },
  shopt: { operands: /^(?:expand_aliases|extglob|extdebug|keyword|posix|histexpand|history|compat\d+)$/ },
};
