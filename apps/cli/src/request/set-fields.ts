import { InvalidArgumentError } from 'commander';
import { CliError } from '../shell/index.ts';
import { fieldAt, nearestPaths, takes } from './fields.ts';
import { readValue } from './read-value.ts';

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
