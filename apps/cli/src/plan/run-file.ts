import { fromPointer } from '@holdpoint/contract';
import { type CreateRun, createRunSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import { z } from 'zod';
import { CliError, type Shell } from '../shell/index.ts';
import { mistakeText } from '../words-for-people.ts';
import { parseYaml, readFileOrInput, type YamlFile } from './yaml-file.ts';

/** A request in a file. The command line may give its goal. */
export interface RunFile extends Pick<YamlFile, 'place'> {
  file: Partial<CreateRun>;
}

/** The body of POST /v1/runs, without the rule that it has exactly one goal. */
const runFileSchema = z.strictObject(createRunSchema.shape);

/** @param file a path relative to the caller's directory, or `-` for standard input. @throws CliError `usage` with the place of every mistake */
export async function readRunFile(shell: Pick<Shell, 'config' | 'readInput'>, file: string): Promise<RunFile> {
  const next = 'Give the path of a run file; `run --print` writes one.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'usage', next });
  const { value, place } = parseYaml(text, name, refuse);
  const { success, error } = runFileSchema.safeParse(value);
  // The request keeps the words of the file; the API adds its defaults.
  if (success) return { file: value as Partial<CreateRun>, place };
  throw refuse(schemaProblems(runFileSchema, error.issues, value).map((problem) => fieldLine(problem, place)));
}

/** A mistake of a file with its line. */
export function fieldLine({ pointer, detail }: { pointer: string; detail: string }, place: YamlFile['place']): string {
  const path = fromPointer(pointer);
  const key = /is not known here|does not go with/.test(detail) ? path.at(-1) : undefined;
  const at = key === undefined ? place(path) : place(path.slice(0, -1), key);
  return [at, path.join('.'), mistakeText(detail)].filter((part) => part !== '').join(': ');
}

const refuse = (lines: string[]): CliError =>
  new CliError('usage', lines.join('\n'), { next: 'Correct the file and run it again; nothing was submitted.' });
