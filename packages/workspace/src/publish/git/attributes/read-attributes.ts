import type { Deps } from '../../../deps.ts';
import { type AttributeQuery, checkAttributes } from './check-attributes.ts';

/** What git would do with a file's content when it is added. */
export interface Attributes {
  /** `text`: CRLF becomes LF; `auto`: where git sees text. */
  lines: 'text' | 'auto' | 'as they are';
  ident: boolean;
  /** A filter driver. */
  filter: string | undefined;
  /** The encoding in a work tree; in the repository it is UTF-8. */
  encoding: string | undefined;
}

const asked = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;

/** The conversions that the attributes of a tree ask for, by path. */
export async function readAttributes(
  deps: Pick<Deps, 'git'>,
  query: Omit<AttributeQuery, 'names'>,
): Promise<Map<string, Attributes>> {
  const found = await checkAttributes(deps, { ...query, names: asked });
  return new Map([...found].map(([path, of]) => [path, toAttributes((name) => of.get(name) ?? 'unspecified')]));
}

/** As git's own `convert_attrs` does. */
function toAttributes(of: (name: (typeof asked)[number]) => string): Attributes {
  const lines = linesOf(of('text')) ?? linesOf(of('crlf'));
  const hasEol = ['lf', 'crlf'].includes(of('eol'));
  const encoding = driver(of('working-tree-encoding'));
  return {
    lines: lines ?? (hasEol ? 'text' : 'as they are'),
    ident: of('ident') === 'set',
    filter: driver(of('filter')),
    encoding: /^utf-?8$/i.test(encoding ?? 'utf-8') ? undefined : encoding,
  };
}

function linesOf(value: string): Attributes['lines'] | undefined {
  if (value === 'set' || value === 'input') return 'text';
  if (value === 'unset') return 'as they are';
  return value === 'auto' ? 'auto' : undefined;
}

const driver = (value: string): string | undefined =>
  ['unspecified', 'unset', 'set', ''].includes(value) ? undefined : value;
