import { compileGlob, GlobError } from '@holdpoint/policy';
import { z } from 'zod';
import { badParams } from './bad-params.ts';
import { parseParams } from './parse-params.ts';
import type { Asked, Question, Row, RowGroup } from './row.ts';

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
