import type { CallDescription } from '@holdpoint/contract';

/** The first words of a command line, `git push` or `ls`: the program, and a subcommand where the second word looks like one. */
export function headOf(described: CallDescription): string | undefined {
  if (!described.ok || described.touches === undefined) return undefined;
  const { command, argv } = described.touches;
  const [program, second = ''] = argv ?? command?.trim().split(/\s+/) ?? [];
  if (program === undefined || program === '') return undefined;
  return /^[a-z][\w:-]*$/i.test(second) ? `${program} ${second}` : program;
}
