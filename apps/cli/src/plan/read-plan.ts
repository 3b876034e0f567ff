import { readFile } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { type ParsedPlan, parsePlan } from './parse-plan.ts';

/** @param file a path, or `-` for standard input. @throws CliError `bad_plan` with a place (file:line:column) for every mistake */
export async function readPlan(file: string, readInput: () => Promise<string>): Promise<ParsedPlan> {
  if (file === '-') return parsePlan(await readInput(), 'standard input');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new CliError(
      'bad_plan',
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
        next: 'Give the path of a plan; examples/ has some.',
      },
    );
  }
  return parsePlan(text, file);
}
