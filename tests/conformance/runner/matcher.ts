import { z } from 'zod';

/** JavaScript without the `u` flag; `(?i)`, `(?s)` and `(?m)` at the start are flags. @throws SyntaxError */
export function toRegExp(text: string): RegExp {
  const [, flags = '', source = ''] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(text) ?? [];
  return new RegExp(source, [...new Set(flags)].join(''));
}

const pattern = z.string().refine(isRegExp, 'expected a regular expression');

function isRegExp(text: string): boolean {
  try {
    return toRegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

/** The condition on a value. Every given key must hold. */
export const matcherSchema = z
  .strictObject({
    equals: z.json(),
    regex: pattern,
    contains: z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]),
    gte: z.number(),
    lte: z.number(),
    absent: z.literal(true),
    absent_or: z.json(),
    length: z.int().min(0),
    min_length: z.int().min(0),
    set_equals: z.array(z.json()),
    superset_of: z.array(z.json()),
    superset_names: z.array(z.string()),
    set_by: z.string(),
    names: z.array(z.json()),
    key: z.string(),
    keys: z.array(z.string()).min(1),
    throws: z.literal(true),
  })
  .partial()
  .superRefine((matcher, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    if (Object.keys(matcher).length === 0) refuse('expected a matcher');
    if ((matcher.names === undefined) !== (matcher.key === undefined)) refuse('names and key belong together');
    if (matcher.set_by !== undefined && !isObjects(matcher.equals)) refuse('set_by needs equals, a list of objects');
  });
export type Matcher = z.output<typeof matcherSchema>;

/** The condition on a file of the workspace. */
export const fileMatcherSchema = z.union([
  z.strictObject({ base64: z.base64() }),
  z.strictObject({ type: z.enum(['directory', 'file', 'symlink']) }),
  matcherSchema,
]);
export type FileMatcher = z.output<typeof fileMatcherSchema>;

const isObjects = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
