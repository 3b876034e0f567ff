import { createRequire, registerHooks } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { effectSchema, nearestNames, policyRuleSchema, riskSchema, secretUsesSchema } from '@holdpoint/contract';
import { z } from 'zod';
import type { Tool } from '../tool.ts';
import type { Toolset } from '../toolset.ts';

const fn = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'expected a function');
const schema = z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected a schema');
const zod4 = z.custom<z.ZodType>((value) => value instanceof Object && '_zod' in value, 'expected a schema of zod 4');

const toolFields = {
  name: z.string(),
  description: z.string().max(20_000),
  effect: z.union([effectSchema, fn], `expected ${effectSchema.options.join(', ')} or a function`),
  risk: riskSchema,
  label: z.string().min(1).max(100).optional(),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/, 'expected a semantic version, such as 1.0.0')
    .optional(),
  fillsPlaceholders: z.literal(true).optional(),
  gate: z.literal('input').optional(),
  needsNetwork: z.literal(true).optional(),
  sequential: z.literal(true).optional(),
  keepsList: z.literal(true).optional(),
  freeText: z.string().optional(),
  takesKind: z.literal(true).optional(),
  onTask: z.enum(['waits', 'ends']).optional(),
  shell: z.literal(true).optional(),
  input: schema,
  modelSchema: z.never('is for the tools of Holdpoint: a model reads the whole schema of this tool').optional(),
  output: schema.optional(),
  render: fn.optional(),
  resultBytes: z.int().min(1024).max(131_072).optional(),
  answer: fn.optional(),
  beside: z.strictObject({ task: fn, settle: fn }).optional(),
  touches: fn.optional(),
  asks: z.union([z.literal(true), fn], 'expected true or a function').optional(),
  mayAsk: fn.optional(),
  reaches: fn.optional(),
  sends: secretUsesSchema.optional(),
  execute: fn,
  preview: fn.optional(),
  pin: z.string().max(200).optional(),
} satisfies Record<keyof Tool, z.ZodType>;

const tools = z.array(z.strictObject(toolFields)).min(1, 'expected at least one tool');

/** A remembered rule is looked up under each choice of them. */
const advisory = z.array(z.string()).max(3).optional();

const toolsetFields = {
  name: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'expected small letters, digits and -, at most 64'),
  tools,
  placeholders: z.boolean().optional(),
  settings: zod4.refine((value) => value instanceof z.ZodObject, 'expected an object schema of zod 4').optional(),
  permissions: z.array(z.string()).optional(),
  protected: z.array(z.string()).optional(),
  rules: z.array(policyRuleSchema).optional(),
  cautions: z
    .array(policyRuleSchema.pick({ name: true, match: true, surely: true }).extend({ reason: z.string() }))
    .optional(),
  advisory: z.record(z.string(), z.strictObject({ words: advisory, limits: advisory })).optional(),
  asking: fn.optional(),
  withholds: fn.optional(),
  auto: fn.optional(),
  instructions: z.string().optional(),
  present: fn.optional(),
  approvalText: fn.optional(),
  forms: z.record(z.string(), fn).optional(),
} satisfies Record<keyof Toolset, z.ZodType>;

/** A toolset of its own. */
const ownToolset = z.strictObject(toolsetFields);
/** Additional tools for a toolset of Holdpoint, or of an earlier module. */
const moreTools = z.strictObject({ addsTo: z.string(), tools });

export type Definition = Toolset | { addsTo: string; tools: Tool[] };

/** Reads a module's export as tools. @throws Error with every mistake, and the nearest known field */
function checkDefinition(value: object): Definition {
  const shape = 'addsTo' in value ? moreTools : ownToolset;
  const parsed = shape.safeParse(value);
  if (parsed.success) return value as Definition;
  throw new Error(parsed.error.issues.flatMap(problems).slice(0, 10).join('; '));
}

function problems(issue: z.core.$ZodIssue): string[] {
  const at = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return [`${at === '' ? 'the export' : at}: ${issue.message}`];
  const fields = Object.keys(issue.path.at(-2) === 'tools' ? toolFields : { ...toolsetFields, addsTo: moreTools });
  return issue.keys.map((key) => {
    const [nearest = ''] = nearestNames(key, fields, 1);
    return `${[at, key].filter((part) => part !== '').join('.')}: unknown field; nearest: ${nearest}`;
  });
}

/**
 * The definitions exported by a module: its own toolsets, then its additions to other toolsets.
 * @param from the base directory of paths and packages
 * @throws Error with the reason of an unusable module
 */
export async function loadModule(specifier: string, from: string): Promise<Definition[]> {
  const exported = await within(import(/* @vite-ignore */ urlOf(specifier, from)));
  // Once each: the exports of a CommonJS module may be known by name, by default, or by both.
  const values = new Map(
    [...named(exported), ...named(exported.default)].map(([name, value]) => [value, name] as const),
  );
  const found = [...values].flatMap(([value, name]) => definitionsIn(name, value));
  // The exports of a module are in the order of their names.
  const definitions = [...found.filter((one) => !('addsTo' in one)), ...found.filter((one) => 'addsTo' in one)];
  if (definitions.length > 0) return definitions;
  const names = Object.keys(exported).join(', ') || 'nothing';
  throw new Error(`it exports no toolset, but ${names}. Export {name, tools} or {addsTo, tools}`);
}

const named = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('tools' in value)
    ? Object.entries(value)
    : [];

function definitionsIn(name: string, value: unknown): Definition[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => definitionsIn(`${name}[${index}]`, one));
  if (typeof value !== 'object' || value === null) return [];
  if ('execute' in value && !('tools' in value)) {
    throw new Error(`${name} is a tool alone; export {name, tools: [tool]} or {addsTo: "holdpoint", tools: [tool]}`);
  }
  if (!('tools' in value || 'addsTo' in value)) return [];
  try {
    return [checkDefinition(value)];
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function urlOf(specifier: string, from: string): string {
  if (specifier.startsWith('file:')) return specifier;
  if (isAbsolute(specifier) || /^\.\.?\//.test(specifier)) return pathToFileURL(resolve(from, specifier)).href;
  // Without its conditions, `require.resolve` finds no package with only an `import` entry.
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name, { ...context, conditions: ['node', 'import', 'module-sync'] }),
  });
  try {
    return pathToFileURL(createRequire(join(from, 'package.json')).resolve(specifier)).href;
  } finally {
    hooks.deregister();
  }
}

/** An endless import of a module must not hold up the start without a word. */
async function within(loading: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${loadMs / 1000} s`)), loadMs);
  });
  return Promise.race([loading, late]).finally(() => clearTimeout(timer));
}

const loadMs = 30_000;
