import type { Deps } from '../../../deps.ts';
import { driversOf, type MergeDriver } from '../../merge/merge-drivers.ts';
import { type AttributeQuery, checkAttributes } from './check-attributes.ts';

/** How `git add` converts a file. */
export interface Attributes {
  /** `text`: CRLF becomes LF. `auto`: only when git detects text. */
  lines: 'text' | 'auto' | 'unchanged';
  ident: boolean;
  /** Name of a filter driver. */
  filter: string | undefined;
  /** Encoding in the work tree, if other than UTF-8. */
  encoding: string | undefined;
}

const asked = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;

/** The conversions and the merge drivers requested by the attributes of a tree, by path. */
export async function readAttributes(
  deps: Pick<Deps, 'git'>,
  query: Omit<AttributeQuery, 'names'>,
): Promise<{ conversions: Map<string, Attributes>; drivers: Map<string, MergeDriver> }> {
  const found = await checkAttributes(deps, { ...query, names: [...asked, 'merge'] });
  const conversions = [...found].map(
    ([path, of]) => [path, toAttributes((name) => of.get(name) ?? 'unspecified')] as const,
  );
  return { conversions: new Map(conversions), drivers: driversOf(found) };
}

/** Same rules as git's `convert_attrs`. */
function toAttributes(of: (name: (typeof asked)[number]) => string): Attributes {
  const lines = linesOf(of('text')) ?? linesOf(of('crlf'));
  const hasEol = ['lf', 'crlf'].includes(of('eol'));
  const encoding = driver(of('working-tree-encoding'));
  return {
    lines: lines ?? (hasEol ? 'text' : 'unchanged'),
    ident: of('ident') === 'set',
    filter: driver(of('filter')),
    encoding: /^utf-?8$/i.test(encoding ?? 'utf-8') ? undefined : encoding,
  };
}

function linesOf(value: string): Attributes['lines'] | undefined {
  if (value === 'set' || value === 'input') return 'text';
  if (value === 'unset') return 'unchanged';
  return value === 'auto' ? 'auto' : undefined;
}

const driver = (value: string): string | undefined =>
  ['unspecified', 'unset', 'set', ''].includes(value) ? undefined : value;
