import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

/** GitHub's published description of the used operations; see `extract-openapi.ts`. */
const document = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8')) as OpenApi;

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  parameters?: unknown[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, unknown>;
}

const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true, validateFormats: true }));
ajv.addFormat('repo.nwo', true).addSchema(asJsonSchema(document) as object, 'github');
const known = new Map<string, ValidateFunction>();

/** JSON Schema has no `nullable`. */
function asJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as Node;
  const plain = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, asJsonSchema(one)]));
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}

/** An operation of the description, found by method and path. */
export interface Found {
  operation: Operation;
  pointer: string;
  names: Record<string, string>;
}

/** @param path without the address of the API */
export function findOperation(method: string, path: string): Found | undefined {
  for (const [template, item] of Object.entries(document.paths)) {
    const pattern = template.replace(/\{(\w+)\}/g, (_, name) => `(?<${name}>${name === 'branch' ? '.+' : '[^/]+'})`);
    const names = new RegExp(`^${pattern}$`).exec(path)?.groups;
    const operation = item[method.toLowerCase()];
    if (names === undefined || operation === undefined) continue;
    const pointer = `/paths/${pointerPart(template)}/${method.toLowerCase()}`;
    return { operation, pointer, names: { ...names } };
  }
  return undefined;
}

/** What is wrong with a request, by the description. */
export function wrongRequest(found: Found, query: URLSearchParams, body: unknown): string[] {
  const wrong = unknownParameters(found, query);
  if (found.operation.requestBody === undefined) return wrong;
  const problems = validate(`${found.pointer}/requestBody/content/application~1json/schema`, body);
  const { properties = {} } = resolve(found.operation.requestBody.content['application/json']?.schema) as Node;
  const extra = Object.keys(Object(body)).filter((name) => !(name in Object(properties)));
  return [...wrong, ...problems, ...extra.map((name) => `the body has ${name}, which the operation does not know`)];
}

function unknownParameters({ operation }: Found, query: URLSearchParams): string[] {
  const parameters = (operation.parameters ?? []).map((one) => resolve(one) as Node);
  return [...query].flatMap(([name, value]) => {
    const found = parameters.find((one) => one.in === 'query' && one.name === name);
    if (found === undefined) return [`the query has ${name}, which the operation does not know`];
    const values = (found.schema as Node).enum as string[] | undefined;
    return values === undefined || values.includes(value) ? [] : [`${name}=${value} is none of ${values}`];
  });
}

/** What is wrong with an answer, by the description. */
export function wrongAnswer(found: Found, status: number, body: unknown): string[] {
  const declared = found.operation.responses[String(status)];
  if (declared === undefined) return status >= 400 ? [] : [`${status} is no answer of the operation`];
  const schema = schemaOf(found, status);
  return schema === undefined ? [] : validate(schema, body);
}

function schemaOf({ operation, pointer }: Found, status: number): string | undefined {
  const declared = operation.responses[String(status)] as Node;
  const at = typeof declared.$ref === 'string' ? declared.$ref.slice(1) : `${pointer}/responses/${status}`;
  const { content } = resolve(declared) as { content?: Node };
  return content?.['application/json'] === undefined ? undefined : `${at}/content/application~1json/schema`;
}

function validate(pointer: string, value: unknown): string[] {
  const check = known.get(pointer) ?? ajv.compile({ $ref: `github#${pointer}` });
  known.set(pointer, check);
  return check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

type Node = Record<string, unknown>;
const pointerPart = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

function resolve(part: unknown): unknown {
  const { $ref } = Object(part) as { $ref?: string };
  if ($ref === undefined) return part;
  return resolve(
    $ref
      .slice(2)
      .split('/')
      .reduce((at, name) => at[name] as Node, document as unknown as Node),
  );
}

/** A whole answer as the description asks: the given fields, and the least value of each other required one. */
export function fill(found: Found, status: number, given: unknown): unknown {
  const pointer = schemaOf(found, status);
  if (pointer === undefined) return given;
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  return filled(
    parts.reduce((at, name) => at[name] as Node, document as unknown as Node),
    given,
  );
}

function filled(schema: unknown, given: unknown): unknown {
  const node = resolve(schema) as Node;
  const parts = (node.allOf ?? node.oneOf ?? node.anyOf) as unknown[] | undefined;
  if (given === undefined && node.nullable === true) return null;
  if (parts !== undefined) {
    if (node.allOf === undefined) return given === null ? null : filled(parts[0], given);
    return parts.reduce((value, part) => filled(part, value), given);
  }
  if (node.type === 'array') {
    return given === undefined ? [] : (given as unknown[]).map((one) => filled(node.items, one));
  }
  if (node.properties !== undefined && given !== null) return filledObject(node, Object(given) as Node);
  return given === undefined ? least(node) : given;
}

function filledObject({ properties, required }: Node, given: Node): Node {
  const names = new Set([...((required ?? []) as string[]), ...Object.keys(given)]);
  const schemas = properties as Record<string, unknown>;
  return Object.fromEntries([...names].map((name) => [name, filled(schemas[name] ?? {}, given[name])]));
}

function least({ type, format, enum: values }: Node): unknown {
  if (Array.isArray(values)) return values[0];
  if (type === 'string')
    return { uri: 'https://example.com/', 'date-time': '2026-01-01T00:00:00Z' }[String(format)] ?? '';
  if (type === 'integer' || type === 'number') return 0;
  return type === 'boolean' ? false : {};
}
