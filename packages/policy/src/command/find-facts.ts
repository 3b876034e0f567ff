import { type ProgramFacts, programFacts } from './program-facts.ts';
import { type Arguments, readOptions } from './read-options.ts';
import type { SimpleCommand } from './simple-command.ts';

/** The facts about a command's program or sub-command, and its arguments read by these facts. */
export function findFacts({
  program,
  argv,
}: SimpleCommand): { facts: ProgramFacts; read: Arguments; moved: boolean } | undefined {
  let facts = Object.hasOwn(programFacts, program) ? programFacts[program] : undefined;
  let words = argv.slice(1);
  let moved = false;
  while (facts?.subcommands) {
    const { flags, operands, places } = readOptions(words, { ...facts, operandEndsFlags: true });
    moved ||= flags.some(({ name }) => facts?.moves?.includes(name));
    const name = operands[0]?.static ? operands[0].value : '';
    facts = Object.hasOwn(facts.subcommands, name) ? facts.subcommands[name] : undefined;
    words = words.slice((places[0] ?? 0) + 1);
  }
  return facts && { facts, read: readOptions(words, facts), moved };
}
