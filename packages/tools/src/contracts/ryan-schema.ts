import type { JsonSchema } from '../json-schema.ts';

/** A schema of parameters without properties. Unknown parameters are refused. */
export const newSchema = (): JsonSchema => ({
  ...{ type: 'object', properties: {}, required: [], additionalProperties: false },
});

/** The schema with an additional property. */
export const addProperty = (schema: JsonSchema, name: string, property: JsonSchema): JsonSchema => ({
  ...schema,
  properties: { ...(schema.properties as JsonSchema | undefined), [name]: property },
});

/** The schema with more required properties. */
export const addRequired = (schema: JsonSchema, ...names: string[]): JsonSchema => ({
  ...schema,
  required: [...new Set([...((schema.required as string[] | undefined) ?? []), ...names])],
});
