import { toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { ApiProblem } from '../errors/api-problem.ts';

/** Validates a part of a request with its zod schema; every issue is named by its place. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data) => {
    const parsed = schema.safeParse(data);
    if (parsed.success) return { value: parsed.data };
    const errors = pointerErrors(parsed.error.issues, httpPart === 'body');
    const first = errors[0];
    const place = httpPart === 'body' ? 'the body' : httpPart === 'querystring' ? 'the query' : `the ${httpPart}`;
    const detail = `${place} is not valid: ${first?.pointer ? `${first.pointer}: ` : ''}${first?.detail ?? ''}`;
    return { error: new ApiProblem('invalid_request', detail, { errors }) };
  };

/** In a body a place is a JSON pointer; elsewhere it is the name of a parameter. */
export function pointerErrors(issues: readonly z.core.$ZodIssue[], inBody: boolean): PointerError[] {
  const pointer = (path: readonly PropertyKey[]) => (inBody ? toPointer(path) : path.map(String).join('.'));
  return issues.flatMap((issue): PointerError[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: pointer([...issue.path, key]),
        detail: issue.message.startsWith('Unrecognized key') ? 'unknown field' : issue.message,
      }));
    }
    return [{ pointer: pointer(issue.path), detail: issue.message }];
  });
}
