import { ApiError } from '@holdpoint/client';
import { CliError } from '../errors.ts';
import type { ParsedPlan } from './parse-plan.ts';

/**
 * Adds the place in the file to mistakes that the server finds in a plan.
 *
 * @param fromFile fields of the request that come from the file; an error in any other field is returned unchanged
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
