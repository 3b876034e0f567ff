import type { Problem } from '@holdpoint/contract';
import type { z } from 'zod';

/** One mistake in a call's arguments. `pointer`: RFC 6901, empty for the arguments as a whole. */
export interface ArgumentIssue {
  pointer: string;
  detail: string;
}

/** Names every issue, so that one correction is enough. */
export const invalidArgs = (tool: string, error: z.ZodError): { error: Problem; issues: ArgumentIssue[] } =>
  invalid(tool, error.issues.flatMap(argumentIssues));

export function invalid(tool: string, issues: ArgumentIssue[]): { error: Problem; issues: ArgumentIssue[] } {
  const listed = issues
    .slice(0, maxListed)
    .map(({ pointer, detail }) => `${short(pointer) || 'the arguments'}: ${short(detail)}`);
  const rest = issues.length - listed.length;
  const message = `Invalid arguments for ${tool}: ${listed.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
  return {
    error: {
      code: 'EINVALIDARGS',
      message,
      next: `Correct the arguments by the input schema of ${tool} and call it again.`,
    },
    issues: issues.slice(0, maxIssues),
  };
}

/** A key can be as long as a model's answer. */
const short = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

const maxShown = 300;
const maxListed = 20;
const maxIssues = 200;

function argumentIssues(issue: z.core.$ZodIssue): ArgumentIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointer([...issue.path, key]), detail: 'unknown parameter' }));
  }
  return [{ pointer: pointer(issue.path), detail: issue.message }];
}

const pointer = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const mostValues = 20_000;
const mostChars = 8_000_000;
const deepest = 100;

/**
 * The reason why arguments are too large for any tool; undefined when they are not. A schema reports an issue for each value: a million
 * issues took 4 s.
 */
export function boundArgs(args: unknown): ArgumentIssue | undefined {
  let values = 0;
  let chars = 0;
  const level: { value: unknown; path: string[] }[] = [{ value: args, path: [] }];
  for (let next = level.pop(); next !== undefined; next = level.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') chars += value.length;
    if (chars > mostChars) return { pointer: pointer(path), detail: `more than ${mostChars} characters in all` };
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= deepest) return { pointer: pointer(path), detail: `nested more than ${deepest} deep` };
    const tooMany = { pointer: pointer(path), detail: `more than ${mostValues} values in all` };
    // Checked before its keys are listed, which is slow for a million keys.
    if (Array.isArray(value) && value.length > mostValues) return tooMany;
    for (const key in value) {
      values += 1;
      chars += key.length;
      if (values > mostValues) return tooMany;
      level.push({ value: (value as Record<string, unknown>)[key], path: [...path, key] });
    }
  }
  return undefined;
}
