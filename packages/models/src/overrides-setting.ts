import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ModelOverrides } from './describe-model.ts';
import { ModelError } from './errors.ts';

const price = z.number().min(0).max(1_000_000);
const rates = z.strictObject({
  input: price,
  output: price,
  cached_input: price.optional(),
  cache_write: price.optional(),
});
const tokens = z.number().int().min(1).max(1_000_000_000);
const facts = z.strictObject({
  window: tokens.optional(),
  max_output: tokens.optional(),
  images: z.boolean().optional(),
  pdf: z.boolean().optional(),
  prices: rates.optional(),
});
const name = z.string().regex(/^[^/\s]+\/\S+$|^\*$/, 'expected provider/model, in which * stands for any text');

/**
 * Reads the operator's facts about models: `HOLDPOINT_MODELS` (JSON, or the path of a JSON or YAML file) and `HOLDPOINT_MODEL_PRICES` (JSON).
 * @throws ModelError EMODELSETTINGS naming the variable and the place
 */
export function overridesFrom(env: Record<string, string | undefined>): ModelOverrides {
  const known = read(env, 'HOLDPOINT_MODELS', z.record(name, facts));
  const prices = read(env, 'HOLDPOINT_MODEL_PRICES', z.record(name, rates));
  const overrides: Record<string, ModelOverrides[string]> = {};
  for (const [model, { max_output: maxOutput, ...rest }] of Object.entries(known)) {
    overrides[model] = { ...rest, maxOutput };
  }
  for (const [model, of] of Object.entries(prices)) overrides[model] = { ...overrides[model], prices: of };
  return overrides;
}

function read<T>(env: Record<string, string | undefined>, variable: string, schema: z.ZodType<T>): T {
  const text = env[variable]?.trim() || '{}';
  const parsed = schema.safeParse(parsedText(variable, text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const { message } = issue.code === 'invalid_key' ? (issue.issues[0] ?? issue) : issue;
    return `${issue.path.join('.') || 'the value'}: ${message}`;
  });
  throw refused(variable, problems.slice(0, 3).join('; '));
}

function parsedText(variable: string, text: string): unknown {
  const isInline = text.startsWith('{') || variable === 'HOLDPOINT_MODEL_PRICES';
  try {
    // YAML contains JSON.
    return isInline ? JSON.parse(text) : (parse(readFileSync(text, 'utf8'), { maxAliasCount: 0 }) ?? {});
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw refused(variable, isInline ? 'expected JSON' : `the file could not be read: ${reason}`);
  }
}

const refused = (variable: string, reason: string) =>
  new ModelError({
    code: 'EMODELSETTINGS',
    message: `${variable} is not valid. ${reason}.`,
    next: `Correct ${variable} and start again; docs/models.md shows its form.`,
  });
