import type { z } from 'zod';
import type { ToolError } from './tool.ts';

/** One thing wrong with a call's arguments. `pointer`: RFC 6901, empty for the arguments as a whole. */
export interface ArgumentIssue {
  pointer: string;
  detail: string;
}

/** The arguments of a call were refused; every issue is named, so that one correction is enough. */
export function invalidArgs(tool: string, error: z.ZodError): { error: ToolError; issues: ArgumentIssue[] } {
  const issues = error.issues.flatMap(argumentIssues);
  const listed = issues.slice(0, MAX_LISTED).map(({ pointer, detail }) => `${pointer || 'the arguments'}: ${detail}`);
  const rest = issues.length - listed.length;
  const message = `Invalid arguments for ${tool}: ${listed.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
  return {
    error: {
      code: 'EINVALIDARGS',
      message,
      next: `Correct the arguments by the input schema of ${tool} and call it again.`,
    },
    issues,
  };
}

const MAX_LISTED = 20;

function argumentIssues(issue: z.core.$ZodIssue): ArgumentIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointer([...issue.path, key]), detail: 'unknown parameter' }));
  }
  return [{ pointer: pointer(issue.path), detail: issue.message }];
}

function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
