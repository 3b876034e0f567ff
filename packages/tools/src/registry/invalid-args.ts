import type { Problem } from '@holdpoint/contract';
import type { z } from 'zod';

/** A mistake in a call's arguments. `pointer`: RFC 6901, empty for the arguments as a whole. */
export interface ArgumentIssue {
  pointer: string;
  detail: string;
}

/** Names every issue: a single correction is enough. */
export function invalidArgs(tool: string, error: z.ZodError): { error: Problem; issues: ArgumentIssue[] } {
  return invalid(tool, error.issues.flatMap(argumentIssues));
}

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

export function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
