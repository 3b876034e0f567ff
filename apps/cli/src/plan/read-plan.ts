import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError } from '../errors.ts';
import { type ParsedPlan, parsePlan } from './parse-plan.ts';

/** @param input.file a path relative to `cwd`, or `-` for standard input. @throws CliError `bad_plan` with the place of every mistake */
export async function readPlan(input: {
  cwd: string;
  file: string;
  readInput: () => Promise<string>;
}): Promise<ParsedPlan> {
  const { cwd, file, readInput } = input;
  if (file === '-') return parsePlan(await readInput(), 'standard input');
  let text: string;
  try {
    text = await readFile(resolve(cwd, file), 'utf8');
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
