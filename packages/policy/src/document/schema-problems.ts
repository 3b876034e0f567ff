import { nearestNames, toPointer } from '@holdpoint/contract';
import { z } from 'zod';
import type { PolicyProblem } from './check-catalog.ts';

type Issue = z.core.$ZodIssue;

/** The mistakes found by a schema, each with the nearest valid names. */
export function schemaProblems(schema: z.ZodType, issues: readonly Issue[], value: unknown): PolicyProblem[] {
  return issues.flatMap((issue) => describeIssue(schema, issue, [], value));
}

function describeIssue(schema: z.ZodType, issue: Issue, base: readonly PropertyKey[], value: unknown): PolicyProblem[] {
  const path = [...base, ...issue.path];
  const given = valueAt(value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = keysAt(schema, path);
        // Another alternative of a union has the key.
        const why = known.includes(key) ? 'does not go with the other fields here' : 'is not known here';
        const near = known.includes(key) ? '' : ` ${nearest(key, known)}`;
        return { pointer: toPointer([...path, key]), detail: `${JSON.stringify(key)} ${why}.${near}` };
      });
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const near = typeof given === 'string' ? ` ${nearest(given, allowed)}` : '';
      return [{ pointer: toPointer(path), detail: `${shown(given)} is none of ${allowed.join(', ')}.${near}` }];
    }
    case 'invalid_union':
      return closestBranch(issue.errors, given).flatMap((one) => describeIssue(schema, one, path, value));
    default:
      return [{ pointer: toPointer(path), detail: issue.message }];
  }
}

const nearest = (name: string, known: readonly string[]): string => `Nearest: ${nearestNames(name, known).join(', ')}`;

/** The most likely alternative of the value: with the right type, and the fewest mistakes. */
function closestBranch(branches: readonly Issue[][], given: unknown): readonly Issue[] {
  const [best] = branches
    .map((branch) =>
      branch.flatMap((issue) =>
        issue.code === 'invalid_union' && issue.path.length === 0 ? closestBranch(issue.errors, given) : [issue],
      ),
    )
    .sort((a, b) => misfit(a, given) - misfit(b, given));
  return (best ?? []).filter(
    ({ code }, _index, all) => code === 'unrecognized_keys' || !all.some((one) => one.code === 'unrecognized_keys'),
  );
}

const misfit = (issues: readonly Issue[], given: unknown): number =>
  issues.length + (issues.some((issue) => isAnotherType(issue, given)) ? 1000 : 0);

const isAnotherType = ({ code, path }: Issue, given: unknown): boolean =>
  path.length === 0 && (code === 'invalid_type' || (code === 'invalid_value' && typeof given === 'object'));

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing';

/** The keys known to a schema at a path, in all of its alternatives. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const found = path.reduce<z.core.$ZodType[]>(
    (schemas, key) => schemas.flatMap((one) => below(one, key)),
    plain(schema),
  );
  return [...new Set(found.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : [])))];
}

function below(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return plain(schema.shape[String(key)]);
  if (schema instanceof z.ZodArray) return plain(schema.element);
  if (schema instanceof z.ZodRecord) return plain(schema.valueType);
  return [];
}

/** Without defaults, and with each alternative alone. */
function plain(schema: z.core.$ZodType | undefined): z.core.$ZodType[] {
  if (schema === undefined) return [];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(plain);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return plain(schema.unwrap());
  }
  return [schema];
}
