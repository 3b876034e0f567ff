import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger';
import { problemDetailsSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';
import type { Access, HeaderName } from '../deps.ts';
import { longestKey } from './idempotency-key.ts';

type JsonSchema = Record<string, unknown>;

/**
 * Turns the zod schemas of the routes into an OpenAPI 3.1 document. Schemas with a `meta({ id })` become components. A schema with a second
 * form for requests, because fields have defaults, becomes a second component with `Input` at the end of its name.
 *
 * fastify-type-provider-zod brings a transform of its own, but refuses recursive schemas without an id, and every `z.json()` in the domain is such a
 * schema. Here "any JSON" is the empty schema, with the same meaning.
 */
export function openApiTransforms(): { transform: SwaggerTransform; transformObject: SwaggerTransformObject } {
  const components: Components = { input: {}, output: {} };
  const convert = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const { $schema: _, $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any', cycles: 'ref' });
    for (const [id, definition] of Object.entries($defs)) {
      if (isNamed(id)) components[io][id] = linkTo(definition, io) as JsonSchema;
    }
    // A schema used as a component is not in its own $defs.
    if (typeof root.id !== 'string') return linkTo(root, io) as JsonSchema;
    components[io][root.id] = linkTo(root, io) as JsonSchema;
    return { $ref: refTo(root.id, io) };
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
      const refusal = { description: 'The request is refused', ...content(problemDetailsSchema) };
      const problem = { description: 'A problem of the server', ...content(problemDetailsSchema) };
      const answers = Object.entries((response ?? {}) as Record<string, Answer>).map(([status, answer]) => [
        status,
        convertAnswer(answer, convert),
      ]);
      return {
        schema: {
          ...rest,
          security: securityOf(route.config?.access),
          ...Object.fromEntries(converted),
          ...headersOf(route.config?.headers),
          response: { ...Object.fromEntries(answers), '4XX': refusal, default: problem },
        },
        url,
      };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('only OpenAPI 3 is written');
      const { openapiObject } = document;
      const { schemas, rename } = nameComponents(components);
      const whole = { ...openapiObject, components: { ...openapiObject.components, schemas } };
      for (const parameter of parametersOf(whole)) separateByCommas(parameter);
      return rename(whole) as ReturnType<SwaggerTransformObject>;
    },
  };
}

/** OpenAPI 3.1 lets any scheme name its requirements: here the scope. */
function securityOf(access: Access | undefined): ({ key: string[] } | { session: string[] })[] {
  if (access === undefined || access === 'open' || access === 'console') return [];
  const scopes = access === 'any key' ? [] : [access];
  return [{ key: scopes }, { session: scopes }];
}

function headersOf(names: readonly HeaderName[] | undefined): { headers?: JsonSchema } {
  if (names === undefined) return {};
  return { headers: { type: 'object', properties: Object.fromEntries(names.map((name) => headers[name])) } };
}

const headers: Record<HeaderName, [name: string, schema: JsonSchema]> = {
  'idempotency-key': [
    'Idempotency-Key',
    {
      ...{ type: 'string', minLength: 1, maxLength: longestKey },
      description:
        'Makes it safe to send the request again: the same key and body are answered with what the first request made',
    },
  ],
  'last-event-id': [
    'Last-Event-ID',
    {
      type: 'string',
      description: 'In a stream: the id of the last event that arrived. The stream continues after it',
    },
  ],
  traceparent: [
    'traceparent',
    { type: 'string', description: 'The span of the caller, by W3C Trace Context. The trace of the run continues it' },
  ],
  tracestate: ['tracestate', { type: 'string', description: 'By W3C Trace Context' }],
};

interface Parameter {
  schema?: { type?: unknown };
  style?: string;
  explode?: boolean;
}

function parametersOf({ paths = {} }: { paths?: object | undefined }): Parameter[] {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as object));
  return operations.flatMap((operation: { parameters?: Parameter[] }) => operation.parameters ?? []);
}

/** `status=running,paused`; the default of OpenAPI repeats the name. */
function separateByCommas(parameter: Parameter): void {
  if (parameter.schema?.type === 'array') Object.assign(parameter, { style: 'form', explode: false });
}

type Answer = z.ZodType | { description?: string; content: Record<string, { schema: z.ZodType }> };

function convertAnswer(answer: Answer, convert: (schema: z.ZodType, io: 'output') => JsonSchema): unknown {
  if (!('content' in answer))
    return { description: 'Done', content: { 'application/json': { schema: convert(answer, 'output') } } };
  // The form in which @fastify/swagger takes an answer without a body.
  if (Object.keys(answer.content).length === 0) return { description: answer.description ?? 'Done', type: 'null' };
  const types = Object.entries(answer.content).map(([type, { schema }]) => [
    type,
    { schema: convert(schema, 'output') },
  ]);
  return { description: answer.description ?? 'Done', content: Object.fromEntries(types) };
}

/** zod names its definitions for recursive schemas `__schema0`, …; all of them here are "any JSON". */
const isNamed = (id: string): boolean => !id.startsWith('__schema');

type Io = 'input' | 'output';
type Components = Record<Io, Record<string, JsonSchema>>;

const refTo = (id: string, io: Io): string => `#/components/schemas/${id}${io === 'input' ? inputMark : ''}`;
/** In references, until the forms of the component are known. */
const inputMark = ':input';

/** A single component for both forms of a schema when the forms are equal, otherwise two. */
function nameComponents({ input, output }: Components) {
  const marked = (id: string): string => `"${refTo(id, 'input')}"`;
  const plain = (schema: JsonSchema | undefined): string => JSON.stringify(schema).replaceAll(`${inputMark}"`, '"');
  const both = Object.keys(input).filter((id) => output[id] !== undefined);
  const differing = new Set(both.filter((id) => plain(input[id]) !== plain(output[id])));
  // A schema whose parts have two forms has two forms.
  for (let before = -1; before !== differing.size; ) {
    before = differing.size;
    for (const id of both) {
      const text = JSON.stringify(input[id]);
      if ([...differing].some((part) => text.includes(marked(part)))) differing.add(id);
    }
  }
  const rename = (value: unknown): unknown => {
    const text = JSON.stringify(value).replaceAll(/"#\/components\/schemas\/(\w+):input"/g, (_, id: string) => {
      return `"#/components/schemas/${id}${differing.has(id) ? 'Input' : ''}"`;
    });
    return JSON.parse(text);
  };
  const inputs = Object.entries(input).map(([id, schema]) => [differing.has(id) ? `${id}Input` : id, schema]);
  return { schemas: { ...Object.fromEntries(inputs), ...output } as Record<string, JsonSchema>, rename };
}

/** Links to components, and leaves out noise for a reader: zod's own ids, and the pattern of a format. */
function linkTo(value: unknown, io: Io): unknown {
  if (Array.isArray(value)) return value.map((one) => linkTo(one, io));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && typeof value.$ref === 'string') {
    const { $ref, ...rest } = value;
    const id = $ref.slice('#/$defs/'.length);
    return $ref.startsWith('#/$defs/') && isNamed(id) ? { ...rest, $ref: refTo(id, io) } : rest;
  }
  const kept = Object.entries(value).filter(([key, inner]) => {
    if (key === 'id') return typeof inner !== 'string';
    // zod adds these bounds to every integer.
    if (inner === Number.MIN_SAFE_INTEGER || inner === Number.MAX_SAFE_INTEGER) return false;
    return key !== 'pattern' || !('format' in value);
  });
  return Object.fromEntries(kept.map(([key, inner]) => [key, linkTo(inner, io)]));
}
