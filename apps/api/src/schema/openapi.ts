import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger';
import { problemDetailsSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { Access } from '../deps.ts';

type JsonSchema = Record<string, unknown>;

/**
 * Turns the zod schemas of the routes into an OpenAPI 3.1 document. Schemas with a `meta({ id })` become components.
 *
 * fastify-type-provider-zod brings a transform of its own, which refuses recursive schemas without an id: every `z.json()` in the
 * domain is one. Here "any JSON" is the empty schema, which is what it means.
 */
export function openApiTransforms(): { transform: SwaggerTransform; transformObject: SwaggerTransformObject } {
  const components: Record<string, JsonSchema> = {};
  const convert = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const { $schema: _, $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any', cycles: 'ref' });
    for (const [id, definition] of Object.entries($defs)) {
      if (isNamed(id)) components[id] = linkTo(definition) as JsonSchema;
    }
    return linkTo(root) as JsonSchema;
  };
  const content = (schema: z.ZodType) => ({
    content: { 'application/problem+json': { schema: convert(schema, 'output') } },
  });

  return {
    transform: ({ schema, url, route }) => {
      if (!schema || schema.hide) return { schema: { hide: true }, url };
      const { body, querystring, params, response, ...rest } = schema;
      const parts = { body, querystring, params };
      const converted = Object.entries(parts).flatMap(([part, given]) =>
        given === undefined ? [] : [[part, convert(given as z.ZodType, 'input')]],
      );
      const problem = { description: 'A problem', ...content(problemDetailsSchema) };
      const answers = Object.entries((response ?? {}) as Record<string, Answer>).map(([status, answer]) => [
        status,
        convertAnswer(answer, convert),
      ]);
      return {
        schema: {
          ...rest,
          security: securityOf(route.config?.access),
          ...Object.fromEntries(converted),
          response: { ...Object.fromEntries(answers), default: problem },
        },
        url,
      };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('only OpenAPI 3 is written');
      const { openapiObject } = document;
      const whole = { ...openapiObject, components: { ...openapiObject.components, schemas: components } };
      return whole as ReturnType<SwaggerTransformObject>;
    },
  };
}

/** OpenAPI 3.1 lets any scheme name what it needs: here the scope. */
function securityOf(access: Access | undefined): { key: string[] }[] {
  if (access === undefined || access === 'open') return [];
  return [{ key: access === 'any key' ? [] : [access] }];
}

type Answer = z.ZodType | { description?: string; content: Record<string, { schema: z.ZodType }> };

function convertAnswer(answer: Answer, convert: (schema: z.ZodType, io: 'output') => JsonSchema): unknown {
  if (!('content' in answer))
    return { description: 'Done', content: { 'application/json': { schema: convert(answer, 'output') } } };
  const types = Object.entries(answer.content).map(([type, { schema }]) => [
    type,
    { schema: convert(schema, 'output') },
  ]);
  return { description: answer.description ?? 'Done', content: Object.fromEntries(types) };
}

/** zod names the definitions it makes for recursive schemas `__schema0`, …; all of them here are "any JSON". */
const isNamed = (id: string): boolean => !id.startsWith('__schema');

/** Links to components, and leaves out what says nothing to a reader: zod's own ids, and the pattern of a format. */
function linkTo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(linkTo);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && typeof value.$ref === 'string') {
    const { $ref, ...rest } = value;
    const id = $ref.slice('#/$defs/'.length);
    return $ref.startsWith('#/$defs/') && isNamed(id) ? { ...rest, $ref: `#/components/schemas/${id}` } : rest;
  }
  const kept = Object.entries(value).filter(([key, inner]) => {
    if (key === 'id') return typeof inner !== 'string';
    return key !== 'pattern' || !('format' in value);
  });
  return Object.fromEntries(kept.map(([key, inner]) => [key, linkTo(inner)]));
}
