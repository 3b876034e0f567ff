import type { Problem } from '@holdpoint/contract';
import type { z } from 'zod';

/** One thing wrong with a call's arguments. `pointer`: RFC 6901, empty for the arguments as a whole. */
export interface ArgumentIssue {
  pointer: string;
  detail: string;
}

/** The arguments of a call were refused; every issue is named, so that one correction is enough. */
export function invalidArgs(tool: string, error: z.ZodError): { error: Problem; issues: ArgumentIssue[] } {
  return invalid(tool, error.issues.flatMap(argumentIssues));
}

export function invalid(tool: string, issues: ArgumentIssue[]): { error: Problem; issues: ArgumentIssue[] } {
  const listed = issues
    .slice(0, MAX_LISTED)
    .map(({ pointer, detail }) => `${short(pointer) || 'the arguments'}: ${short(detail)}`);
  const rest = issues.length - listed.length;
  const message = `Invalid arguments for ${tool}: ${listed.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
  return {
    error: {
      code: 'EINVALIDARGS',
      message,
      next: `Correct the arguments by the input schema of ${tool} and call it again.`,
    },
    issues: issues.slice(0, MAX_ISSUES),
  };
}

/** A key can be as long as an answer of a model. */
const short = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const MAX_SHOWN = 300;
const MAX_LISTED = 20;
const MAX_ISSUES = 200;

function argumentIssues(issue: z.core.$ZodIssue): ArgumentIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointer([...issue.path, key]), detail: 'unknown parameter' }));
  }
  return [{ pointer: pointer(issue.path), detail: issue.message }];
}

export function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
