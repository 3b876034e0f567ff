import { ApiError } from '@holdpoint/client/errors';
import { CliError } from '../errors.ts';
import type { ParsedPlan } from './parse-plan.ts';

/**
 * What the server finds wrong with a plan is shown where it stands in the file.
 * @param fromFile the fields of the request that are the file's; what is wrong with another one is told as it is
 */
export function placeInPlan(error: unknown, plan: ParsedPlan | undefined, fromFile: readonly string[]): unknown {
  if (!(error instanceof ApiError) || plan === undefined || error.errors.length === 0) return error;
  if (error.status !== 400 && error.status !== 422) return error;
  const places = error.errors.map(({ pointer, detail }) => ({
    path: pointer.split('/').slice(1).map(unescapePointer),
    detail,
  }));
  if (places.some(({ path: [field] }) => field !== undefined && !fromFile.includes(String(field)))) return error;
  const lines = places.map(({ path, detail }) => {
    const inFile = path[0] === 'plan' ? path.slice(1) : path;
    return `${plan.place(inFile)}: ${inFile.join('.')}: ${detail}`;
  });
  return new CliError('bad_plan', lines.join('\n'), { cause: error });
}

function unescapePointer(part: string): string | number {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
