import { nearestNames } from '@holdpoint/contract';
import type { z } from 'zod';
import { badParams } from './bad-params.ts';

/** @throws CodeGraphError with every mistake by JSON pointer, and the nearest valid name */
export function parseParams<Schema extends z.ZodObject>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  const names = Object.keys(schema.shape);
  throw badParams(
    parsed.error.issues.map((issue) => explain(issue, names)).join('; '),
    `Parameters of this query: ${names.join(', ')}.`,
  );
}

function explain(issue: z.core.$ZodIssue, names: readonly string[]): string {
  const at = ['', 'params', ...issue.path.map(String)].join('/');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => `${at}/${key.slice(0, 100)}: no such parameter. Nearest: ${nearestNames(key, names, 1).join()}`)
      .join('; ');
  }
  if (issue.code === 'invalid_value' && typeof issue.input === 'string') {
    const near = nearestNames(issue.input, issue.values.map(String), 1).join();
    return `${at}: there is no ${JSON.stringify(issue.input.slice(0, 100))}. Nearest: ${near}`;
  }
  return `${at}: ${issue.message}`;
}
