import { basename } from 'node:path';
import { type Image, nearestNames } from '@holdpoint/contract';
import { createRunSchema } from '@holdpoint/contract/wire';
import { readYaml } from '@holdpoint/policy';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { CliError, readGivenFile, readText } from '../shell/index.ts';

/** A field of POST /v1/runs as JSON Schema. */
type Field = z.core.JSONSchema.BaseSchema;

let opened: Field | undefined;
/** Made once, when asked for: the conversion takes 50 ms. */
const schema = (): Field => {
  opened ??= z.toJSONSchema(createRunSchema, { io: 'input', unrepresentable: 'any' }) as Field;
  return opened;
};

/** The alternatives of a field of the request. Empty: the request has no such field. */
export const fieldAt = (path: readonly string[]): Field[] =>
  path.reduce((fields, key) => fields.flatMap((field) => childrenOf(field, key)), alternativesOf(schema()));

/** References and unions resolved. */
function alternativesOf(field: Field): Field[] {
  const { $ref, anyOf, oneOf, ...rest } = field;
  if ($ref !== undefined) {
    const target = schema().$defs?.[$ref.replace('#/$defs/', '')];
    return target === undefined ? [] : alternativesOf({ ...(target as Field), ...rest });
  }
  const branches = (anyOf ?? oneOf) as Field[] | undefined;
  return branches === undefined ? [field] : branches.flatMap((branch) => alternativesOf({ ...rest, ...branch }));
}

function childrenOf({ type, properties, additionalProperties, items }: Field, key: string): Field[] {
  const named = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const child = named ?? (type === 'array' && /^\d+$/.test(key) ? items : additionalProperties);
  return typeof child === 'object' ? alternativesOf(child as Field) : [];
}

/** Whether a field takes the type of a value. The wire schema checks the bounds of the value later. */
const takes = (fields: readonly Field[], value: unknown): boolean =>
  fields.some(({ type, const: only, enum: choices }) => {
    if (choices !== undefined) return choices.some((choice) => choice === value);
    if (only !== undefined) return only === value;
    return type === 'integer' ? Number.isInteger(value) : type === typeOf(value);
  });

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

export interface NamedField {
  path: string;
  description: string;
  /** For example `high`; empty when any value may fit. */
  choices: string[];
  kind: 'value' | 'list' | 'names';
}

/** All fields with a name of their own: no items of lists. `names`: the caller chooses the keys. */
export const listFields = (): NamedField[] => namedBelow([], alternativesOf(schema()));

function namedBelow(path: readonly string[], fields: readonly Field[]): NamedField[] {
  const keys = [...new Set(fields.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const below = keys.flatMap((key) => namedBelow([...path, key], fieldAt([...path, key])));
  if (below.length > 0) return below;
  const kind = takes(fields, []) ? 'list' : takes(fields, {}) ? 'names' : 'value';
  const description = fields.find((field) => field.description !== undefined)?.description ?? '';
  return [{ path: path.join('.'), description, choices: kind === 'value' ? choicesOf(fields) : [], kind }];
}

function choicesOf(fields: readonly Field[]): string[] {
  const choices = fields.flatMap((field) => {
    if (field.type === 'boolean' && field.const === undefined) return [true, false];
    return field.enum ?? (field.const === undefined ? [] : [field.const]);
  });
  return [...new Set(choices.map(String))];
}

/** The known paths nearest to an unknown path: keys of the same object first. */
function nearestPaths(path: readonly string[]): string[] {
  const unknown = path.findIndex((_, at) => fieldAt(path.slice(0, at + 1)).length === 0);
  const before = path.slice(0, unknown);
  const siblings = fieldAt(before).flatMap(({ properties = {} }) => Object.keys(properties));
  if (before.length === 0 || siblings.length === 0) {
    return nearestNames(path.join('.'), [...new Set([...siblings, ...listFields().map((field) => field.path)])]);
  }
  return nearestNames(path[unknown] ?? '', siblings).map((name) => [...before, name].join('.'));
}

/**
 * The content of a file as the value of a field (`--set path=@FILE`): an image, a kind of sub-agent in Markdown, a text, or otherwise YAML.
 *
 * @throws CliError `usage`
 */
async function readValue(
  cwd: string,
  file: string,
  { path: [field, , ...deeper], isText }: { path: readonly string[]; isText: boolean },
): Promise<unknown> {
  const isItem = deeper.length === 0;
  if (field === 'images' && isItem) return readImage(cwd, file);
  const text = await readText(cwd, file);
  if (isText) return text;
  if (field === 'agents' && isItem && file.endsWith('.md')) return kindOf(file, text);
  const read = readYaml(text);
  if (read.ok) return read.value;
  throw new CliError('usage', `${file} cannot be read: ${read.detail}`);
}

const mebibyte = 1024 * 1024;
const largest = 5 * mebibyte;

/** The first bytes determine the type of an image. */
async function readImage(cwd: string, file: string): Promise<Image> {
  const bytes = await readGivenFile(cwd, file);
  if (bytes.length > largest) {
    throw new CliError('usage', `${file} has ${(bytes.length / mebibyte).toFixed(1)} MiB; an image has 5 MiB at most.`);
  }
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined) throw new CliError('usage', `${file} is neither PNG, JPEG, WebP nor GIF.`);
  return { media_type, data: bytes.toString('base64') };
}

function imageTypeOf(bytes: Buffer): Image['media_type'] | undefined {
  const begins = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (begins('\u0089PNG\r\n')) return 'image/png';
  if (begins('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp';
  return begins('GIF8') ? 'image/gif' : undefined;
}

async function kindOf(file: string, text: string): Promise<object> {
  // A lazy import: only runs with kinds need the module.
  const { readKindDocument } = await import('@holdpoint/runtime/operator');
  const read = readKindDocument(text);
  if (!read.ok) throw new CliError('usage', `${file} is no kind of sub-agent: ${read.error}`);
  const { tools, max_turns, limits, ...front } = read.front;
  const names = typeof tools === 'string' ? tools.split(',').map((name) => name.trim()) : tools;
  return {
    name: basename(file).replace(/\.md$/, ''),
    ...front,
    tools: names,
    limits: max_turns === undefined ? limits : { ...(limits as object | undefined), max_turns },
    instructions: read.body.trim(),
  };
}

/** `--set path=value`: a field of the request. */
export interface Setting {
  path: string[];
  /** `+=`: one more item of a list. */
  isAppended: boolean;
  text: string;
}

/** A name ends at a dot, and `\` takes the next character as it is: `labels.a\.b=x`. */
const form = /^((?:\\.|[^.=\\])+?(?:\.(?:\\.|[^.=\\])+?)*?)(\+?)=(.*)$/s;

/** Collects `--set`. */
export function setting(text: string, before: Setting[] = []): Setting[] {
  const [, path = '', plus, value = ''] = form.exec(text) ?? [];
  const names = [...path.matchAll(/(?:\\.|[^.\\])+/gs)].map(([name]) => name.replaceAll(/\\(.)/gs, '$1'));
  if (names.length === 0) throw new InvalidArgumentError('Expected path=value, such as limits.max_turns=5.');
  return [...before, { path: names, isAppended: plus === '+', text: value }];
}

/** The request with the settings, in their order. The request itself is unchanged. @throws CliError `usage` */
export async function setFields<Request extends object>(
  request: Request,
  settings: readonly Setting[],
  cwd: string,
): Promise<Request> {
  let changed: unknown = request;
  for (const one of settings) {
    refuseUnknown(one);
    const path = one.isAppended ? [...one.path, String(lengthAt(changed, one))] : one.path;
    changed = placed(changed, { before: [], path }, await givenValue(one, path, cwd), one);
  }
  return changed as Request;
}

/** Names of JavaScript itself. */
const reserved = ['__proto__', 'constructor', 'prototype'];

function refuseUnknown(one: Setting): void {
  const { path } = one;
  const name = path.find((key) => reserved.includes(key));
  if (name !== undefined) throw refused(one, `no field can have the name ${name}`);
  if (fieldAt(path).length > 0) return;
  const setting = `--set settings.${path.join('.')}=${one.text}`;
  const next = path.length === 1 ? `Nothing was submitted. A setting of the toolset is ${setting}` : undefined;
  throw refused(one, `a run has no such field. Nearest: ${nearestPaths(path).join(', ')}`, next);
}

const refused = ({ path }: Setting, text: string, next = 'Nothing was submitted.'): CliError =>
  new CliError('usage', `--set ${path.join('.')}: ${text}`, { next });

/** JSON where the field takes a value of its type, otherwise the text. */
async function givenValue(one: Setting, path: readonly string[], cwd: string): Promise<unknown> {
  const fields = fieldAt(path);
  if (fields.length === 0) throw refused(one, 'only a list takes +=');
  if (one.text.startsWith('@')) return readValue(cwd, one.text.slice(1), { path, isText: takes(fields, '') });
  try {
    const value: unknown = JSON.parse(one.text, (key, within) => {
      if (key === '__proto__') throw refused(one, 'no field can have the name __proto__');
      return within;
    });
    return takes(fields, value) || !takesText(path) ? value : one.text;
  } catch (error) {
    if (error instanceof CliError) throw error;
    return one.text;
  }
}

const takesText = (path: readonly string[]): boolean => fieldAt(path).some(({ type }) => type === 'string');

function lengthAt(request: unknown, one: Setting): number {
  const list = one.path.reduce((at, key) => ownOf(at, key), request);
  if (list === undefined) return 0;
  if (Array.isArray(list)) return list.length;
  throw refused(one, 'only a list takes +=');
}

const ownOf = (at: unknown, key: string): unknown =>
  typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;

function placed(
  at: unknown,
  { before, path: [key, ...rest] }: { before: readonly string[]; path: readonly string[] },
  value: unknown,
  one: Setting,
): unknown {
  if (key === undefined) return value;
  const within = placed(ownOf(at, key), { before: [...before, key], path: rest }, value, one);
  if (!isList(at, before, key)) return { ...(isObject(at) && at), [key]: within };
  const items = Array.isArray(at) ? at : [];
  if (/^\d+$/.test(key) && Number(key) <= items.length) return items.toSpliced(Number(key), 1, within);
  throw refused(one, `${key} is no place in a list of ${items.length}`, 'Add an item with +=. Nothing was submitted.');
}

/** An absent value becomes a list when the path has a number there and the field takes a list. */
const isList = (at: unknown, path: readonly string[], key: string): boolean =>
  Array.isArray(at) || (!isObject(at) && /^\d+$/.test(key) && takes(fieldAt(path), []));

const isObject = (at: unknown): at is object => typeof at === 'object' && at !== null;
