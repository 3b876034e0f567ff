import { ApiError } from '@holdpoint/client';
import { fromPointer } from '@holdpoint/contract';
import { CliError, type Shell } from '../shell/index.ts';
import { mistakeText } from '../words-for-people.ts';
import { checkPlanFile, type PlanFile, type PlanMistake } from './plan-file.ts';
import { parseYaml, readFileOrInput, type YamlFile } from './yaml-file.ts';

/** @param file a path relative to the caller's directory, or `-` for standard input. @throws CliError `bad_plan` with the place of every mistake */
export async function readPlan(shell: Pick<Shell, 'config' | 'readInput'>, file: string): Promise<ParsedPlan> {
  const next = 'Give the path of a plan; examples/ has some.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'bad_plan', next });
  return parsePlan(text, name);
}

export interface ParsedPlan extends Pick<YamlFile, 'place'> {
  file: PlanFile;
}

/** @param name of the file, for messages. @throws CliError `bad_plan` */
export function parsePlan(text: string, name: string): ParsedPlan {
  const { value, place } = parseYaml(text, name, badPlan);
  const checked = checkPlanFile(value);
  if (!checked.ok)
    throw badPlan(checked.mistakes.map((mistake) => `${place(mistake.path, mistake.key)}: ${describe(mistake)}`));
  return { file: checked.file, place };
}

const badPlan = (lines: string[]): CliError => new CliError('bad_plan', lines.join('\n'));

function describe({ path, key, message }: PlanMistake): string {
  const where = [...path, ...(key === undefined ? [] : [key])].map(String).join('.');
  return where === '' ? message : `${where}: ${message}`;
}

/**
 * Adds the place in the file to the server's mistakes of a plan.
 *
 * @param fromFile fields of the request from the file; an error in any other field is returned unchanged
 */
export function placeInPlan(error: unknown, plan: ParsedPlan | undefined, fromFile: readonly string[]): unknown {
  if (!(error instanceof ApiError) || plan === undefined || error.errors.length === 0) return error;
  if (error.status !== 400 && error.status !== 422) return error;
  const places = error.errors.map(({ pointer, detail }) => ({ path: fromPointer(pointer), detail }));
  if (places.some(({ path: [field] }) => field !== undefined && !fromFile.includes(field))) return error;
  const lines = places.map(({ path, detail }) => {
    const inFile = path[0] === 'plan' ? path.slice(1) : path;
    return `${plan.place(inFile)}: ${inFile.join('.')}: ${mistakeText(detail)}`;
  });
  return new CliError('bad_plan', lines.join('\n'), { cause: error });
}
