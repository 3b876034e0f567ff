import type { Deps } from '../../../deps.ts';
import { driversOf, type MergeDriver } from '../../merge/merge-trees.ts';
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

/**
 * Applies git's built-in conversions of `git add`: line endings by `text` and `eol`, and `ident`.
 * @param input.keepsCrlf whether the previous version is text with CRLF: git leaves such text alone under `text=auto`
 */
export function cleanText(
  content: Buffer,
  { lines, ident, keepsCrlf }: Pick<Attributes, 'lines' | 'ident'> & { keepsCrlf: boolean },
): Buffer {
  const isText = lines === 'text' || (lines === 'auto' && !keepsCrlf && !isBinary(statisticsOf(content)));
  const text = isText && content.includes('\r\n') ? replaced(content, /\r\n/g, '\n') : content;
  return ident && text.includes('$Id:') ? replaced(text, /\$Id:[^$\n]*\$/g, '$$Id$$') : text;
}

const replaced = (content: Buffer, pattern: RegExp, by: string): Buffer =>
  Buffer.from(content.toString('latin1').replace(pattern, by), 'latin1');

/** Whether git treats the content as text with CRLF. */
export function isTextWithCrlf(content: Buffer): boolean {
  return content.includes('\r\n') && !isBinary(statisticsOf(content));
}

interface Statistics {
  nul: boolean;
  loneCr: boolean;
  printable: number;
  nonPrintable: number;
}

const [backspace, tab, lf, formFeed, cr, endOfFile, esc, del] = [8, 9, 10, 12, 13, 26, 27, 127];

/** As git's own `gather_stats` counts. */
function statisticsOf(content: Buffer): Statistics {
  const seen: Statistics = { nul: false, loneCr: false, printable: 0, nonPrintable: 0 };
  for (let index = 0; index < content.length; index++) {
    const byte = content[index] ?? 0;
    if (byte === cr) {
      if (content[index + 1] === lf) index += 1;
      else seen.loneCr = true;
    } else if (byte === lf) {
      // Neither printable nor not.
    } else if (byte === del) seen.nonPrintable += 1;
    else if (byte >= 32 || byte === backspace || byte === tab || byte === esc || byte === formFeed) seen.printable += 1;
    else {
      seen.nonPrintable += 1;
      if (byte === 0) seen.nul = true;
    }
  }
  if (content.at(-1) === endOfFile) seen.nonPrintable -= 1;
  return seen;
}

/** As git's own `convert_is_binary` decides. */
function isBinary({ nul, loneCr, printable, nonPrintable }: Statistics): boolean {
  return loneCr || nul || Math.floor(printable / 128) < nonPrintable;
}
