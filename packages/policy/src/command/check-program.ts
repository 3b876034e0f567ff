import { type OptionSyntax, readOptions } from './read-options.ts';
import type { CommandWord, SimpleCommand } from './simple-command.ts';
import type { CommandTable, ProgramRule } from './table/command-table.ts';

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
