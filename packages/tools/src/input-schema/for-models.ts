import type { JsonSchema } from '../json-schema.ts';

/** A model may reach a bound up to this number by an ordinary call, such as a count of lines. */
const largest = 100_000;

/** The bounds that a model keeps to without reading them, and the defaults that it expects. */
const unsaid: Record<string, (value: unknown) => boolean> = {
  minLength: () => true,
  maxLength: () => true,
  pattern: () => true,
  format: () => true,
  propertyNames: () => true,
  minimum: (value) => Number(value) <= 1,
  maximum: (value) => Number(value) > largest,
  minItems: (value) => Number(value) <= 1,
  maxItems: (value) => Number(value) > 10,
  default: (value) => value === false || JSON.stringify(value) === '{}',
};

/**
 * A tool's schema as a model reads it in each request, without the bounds above: they were 545 of the 3,067 tokens of Holdpoint's own schemas. The
 * tool still refuses a call outside of them, and the error names the bound.
 */
export function forModels(schema: JsonSchema): JsonSchema {
  const said = Object.entries(schema).filter(([keyword, value]) => unsaid[keyword]?.(value) !== true);
  return Object.fromEntries(said.map(([keyword, value]) => [keyword, shorten(keyword, value)]));
}

/** The names below `properties` and `$defs` are no keywords: a property may be called `pattern`. */
function shorten(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'properties':
    case '$defs':
      return Object.fromEntries(Object.entries(value as JsonSchema).map(([name, one]) => [name, shortened(one)]));
    case 'items':
    case 'additionalProperties':
      return shortened(value);
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (value as unknown[]).map(shortened);
    default:
      return value;
  }
}

const shortened = (schema: unknown): unknown =>
  typeof schema === 'object' && schema !== null ? forModels(schema as JsonSchema) : schema;
