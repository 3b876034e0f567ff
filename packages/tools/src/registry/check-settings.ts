import { type Json, nearestNames, type Problem, type Settings } from '@holdpoint/contract';
import { z } from 'zod';
import { type JsonSchema, toJsonSchema } from '../json-schema.ts';
import { asJson, type Toolset } from '../toolset.ts';

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

type Checked = { ok: true; settings: Settings } | { ok: false; errors: ArgumentIssue[] };

const noSettings = z.strictObject({});

/** The settings with all defaults, or every mistake in them. Pointers begin in the settings. */
export function checkSettings({ name, settings: schema = noSettings }: Toolset, given: unknown): Checked {
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, settings: asJson(parsed.data) as Settings };
  return { ok: false, errors: parsed.error.issues.flatMap((issue) => problemsOf(issue, schema, name)) };
}

/** Recorded settings with the defaults of settings added by a later version. */
export function filledSettings(toolset: Toolset, recorded: Json): Json {
  if (toolset.settings === undefined) return recorded;
  const checked = checkSettings(toolset, recorded);
  return checked.ok ? checked.settings : recorded;
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodObject, toolset: string): ArgumentIssue[] {
  if (issue.code !== 'unrecognized_keys') return [{ pointer: pointer(issue.path), detail: issue.message }];
  const names = namesAt(toJsonSchema(schema), issue.path);
  return issue.keys.map((key) => ({
    pointer: pointer([...issue.path, key]),
    detail:
      names.length === 0
        ? `the toolset ${toolset} has no settings`
        : `there is no setting ${key.slice(0, 100)}. Nearest: ${nearestNames(key, names).join(', ')}`,
  }));
}

/** The names permitted in an object at a path. */
function namesAt(schema: JsonSchema, path: readonly PropertyKey[]): string[] {
  let at: JsonSchema | undefined = schema;
  for (const part of path) {
    const { properties, items, additionalProperties } = variantOf(
      at,
      ({ type }) => type === 'object' || type === 'array',
    );
    at = (typeof part === 'number' ? items : (properties?.[String(part)] ?? additionalProperties)) ?? {};
  }
  return Object.keys(variantOf(at, ({ properties }) => properties !== undefined).properties ?? {});
}

interface Node {
  type?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  additionalProperties?: JsonSchema;
}

/** The schema, or the first matching variant. */
const variantOf = (schema: JsonSchema = {}, fits: (variant: Node) => boolean): Node =>
  [schema, ...((schema.anyOf as JsonSchema[] | undefined) ?? [])].find(fits) ?? {};
