import { type Json, nearestNames } from '@holdpoint/contract';
import { compileGlob, GlobError } from '@holdpoint/policy';
import { z } from 'zod';
import { CodeGraphError } from '../errors.ts';
import type { View } from '../view/view.ts';

const most = 1000;
const usual = 100;

/** The parameters of every question. */
export const pageShape = {
  limit: z.int().min(1).max(most).default(usual).describe('Results to return at most'),
  cursor: z.string().min(1).max(20_000).optional().describe('The cursor of the answer before this one'),
};

export const globText = z.string().min(1).max(1000);

/** Rows by path: the rows of each readable path of `paths` accepted by the `path` filter. */
export const byPath = (
  { isReadable }: Asked,
  paths: Iterable<string>,
  rows: (path: string) => Iterable<Row>,
  path?: string,
): Iterable<RowGroup> => {
  const fits = path === undefined ? () => true : pathFilter(path);
  return grouped(paths, (one) => fits(one) && isReadable(one), rows);
};

function* grouped(
  paths: Iterable<string>,
  isWanted: (path: string) => boolean,
  rows: (path: string) => Iterable<Row>,
): Iterable<RowGroup> {
  for (const key of paths) if (isWanted(key)) yield { key, rows: () => rows(key) };
}

/** A glob of paths. A folder stands for all paths below. */
export function pathFilter(source: string): (path: string) => boolean {
  const plain = source.replace(/^(\.\/)+/, '').replace(/(.)\/+$/, '$1');
  if (plain === '.') return () => true;
  const [file, below] = [compile(plain, true, 'path'), compile(`${plain}/**`, true, 'path')];
  return (path) => file.test(path) || below.test(path);
}

export function nameFilter(source: string, parameter = 'name'): (name: string) => boolean {
  const glob = compile(source, false, parameter);
  return (name) => glob.test(name);
}

function compile(source: string, separated: boolean, parameter: string) {
  try {
    return compileGlob(source, separated);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw badParams(`/params/${parameter}: the glob ${JSON.stringify(source)} ${error.message}`);
  }
}

export function defineQuestion<Schema extends z.ZodObject>(
  schema: Schema,
  groups: (asked: Asked, params: z.output<Schema>) => Iterable<RowGroup>,
): Question<z.output<Schema>> {
  return { parse: (params) => parseParams(schema, params), groups };
}

/** @throws CodeGraphError with every mistake by JSON pointer, and the nearest valid name */
function parseParams<Schema extends z.ZodObject>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  const names = Object.keys(schema.shape);
  throw badParams(
    parsed.error.issues.map((issue) => explain(issue, names)).join('; '),
    `Parameters of this query: ${names.join(', ')}.`,
  );
}

function explain(issue: z.core.$ZodIssue, names: readonly string[]): string {
  const at = ['', 'params', ...issue.path.map(String)].join('/');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => `${at}/${key.slice(0, 100)}: no such parameter. Nearest: ${nearestNames(key, names, 1).join()}`)
      .join('; ');
  }
  if (issue.code === 'invalid_value' && typeof issue.input === 'string') {
    const near = nearestNames(issue.input, issue.values.map(String), 1).join();
    return `${at}: there is no ${JSON.stringify(issue.input.slice(0, 100))}. Nearest: ${near}`;
  }
  return `${at}: ${issue.message}`;
}

/** A result: a flat object. */
export type Row = Record<string, Json>;

/** The subject of a question: the graph of a snapshot, within the run's permissions. */
export interface Asked {
  view: View;
  isReadable(path: string): boolean;
}

/** Rows of the same group. Groups are sorted by key: an answer can be continued behind any row. */
export interface RowGroup {
  key: string;
  rows(): Iterable<Row>;
}

/** A question: its parameters, and the rows of its answer. */
export interface Question<Params> {
  parse(params: unknown): Params;
  groups(asked: Asked, params: Params): Iterable<RowGroup>;
}

export const badParams = (message: string, next = 'Correct the parameters of the query.'): CodeGraphError =>
  new CodeGraphError('EQUERY', message, next);

const mostCompared = 2000;

/** The path of a file of the graph. An unreadable path is reported like a missing path. */
export function fileOf({ view, isReadable }: Asked, given: string): string {
  const path = given.replace(/^(\.\/)+/, '');
  if (view.file(path) !== undefined && isReadable(path)) return path;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const readable = view.paths.filter(isReadable);
  const sameName = readable.filter((one) => one.endsWith(`/${name}`) || one === name);
  const near = sameName.length > 0 ? sameName.slice(0, 3) : nearestNames(path, readable.slice(0, mostCompared));
  const next = near.length === 0 ? 'The graph has no file that the run may read.' : `Nearest: ${near.join(', ')}.`;
  throw badParams(`/params/path: the snapshot has no file ${JSON.stringify(path)}.`, next);
}
