import { toPointer } from '@holdpoint/contract';
import type { PointerError } from '@holdpoint/contract/wire';
import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { ApiProblem } from '../errors/to-problem.ts';

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

/** In a body a place is a JSON pointer; elsewhere the name of a parameter. */
export function pointerErrors(issues: readonly z.core.$ZodIssue[], inBody: boolean): PointerError[] {
  const pointer = (path: readonly PropertyKey[]) => (inBody ? toPointer(path) : path.map(String).join('.'));
  return issues.flatMap((issue): PointerError[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: pointer([...issue.path, key]),
        detail: issue.message.startsWith('Unrecognized key') ? 'unknown field' : issue.message,
      }));
    }
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const inner = meantBranch(issue.errors).map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
      return pointerErrors(inner, inBody);
    }
    return [{ pointer: pointer(issue.path), detail: issue.message }];
  });
}

/** The shape closest to a value: fewest unknown fields first, then fewest mistakes. */
function meantBranch(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] {
  const objects = branches.filter((issues) => !issues.some(isAnotherType));
  if (objects.length === 0) return [{ code: 'custom', path: [], message: expectedOf(branches), input: undefined }];
  const unknown = (issues: readonly z.core.$ZodIssue[]) =>
    issues.reduce(
      (sum, one) => sum + (one.code === 'unrecognized_keys' && one.path.length === 0 ? one.keys.length : 0),
      0,
    );
  const [best = []] = objects.sort((a, b) => unknown(a) - unknown(b) || a.length - b.length);
  return best;
}

/** A scalar is equally far from all shapes. */
function expectedOf(branches: readonly z.core.$ZodIssue[][]): string {
  const issues = branches.flatMap((branch) => branch.filter(isAnotherType));
  const names = issues.map((issue) =>
    issue.code === 'invalid_value' ? issue.values.map(quoted).join(' or ') : nameOf(issue),
  );
  const missing = issues.some(({ message }) => message.endsWith('received undefined'));
  return `${missing ? 'missing: ' : ''}expected ${[...new Set(names)].join(' or ')}`;
}

const quoted = (value: unknown): string => JSON.stringify(value) ?? String(value);

function nameOf(issue: z.core.$ZodIssue): string {
  const expected = issue.code === 'invalid_type' ? issue.expected : 'another value';
  const names: Record<string, string> = {
    ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
    ...{ object: 'an object', record: 'an object', array: 'a list', null: 'null' },
  };
  return names[expected] ?? expected;
}

const isAnotherType = ({ code, path }: z.core.$ZodIssue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
