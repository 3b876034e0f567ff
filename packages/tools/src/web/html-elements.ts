export const VOID = new Set(
  'area base br col embed frame hr img input link meta param source track wbr'.split(' ').concat('basefont', 'bgsound'),
);

/** Their content is not markup, or of no use as such: it is dropped, but for a title's. */
export const RAW_TEXT = new Set([
  'iframe',
  'noembed',
  'noframes',
  'script',
  'style',
  'svg',
  'template',
  'textarea',
  'title',
  'xmp',
]);

const INLINE = new Set(
  (
    'a abbr acronym b bdi bdo big button cite code data del dfn em font i ins kbd label mark nobr q s samp small span ' +
    'strike strong sub summary sup time tt u var'
  ).split(' '),
);

const TABLE = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption']);
const CELLS = new Set(['td', 'th', 'caption']);
const ROWS = new Set(['tr', 'td', 'th', 'caption']);
const SECTIONS = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption', 'colgroup']);
const TERMS = new Set(['dt', 'dd']);
const ITEM = new Set(['li']);
const LINK = new Set(['a']);
const PARAGRAPH = new Set(['p']);
const OPTIONS = new Set(['option', 'optgroup']);

/** Starting an element ends the outermost of `ends` that is open within the nearest of `within`. */
const ENDS: Record<string, { ends: ReadonlySet<string>; within: ReadonlySet<string> }> = {
  li: { ends: ITEM, within: new Set(['ul', 'ol', 'menu', 'dir', 'table', 'td', 'th']) },
  dt: { ends: TERMS, within: new Set(['dl', 'table', 'td', 'th']) },
  dd: { ends: TERMS, within: new Set(['dl', 'table', 'td', 'th']) },
  td: { ends: CELLS, within: new Set(['tr', 'table']) },
  th: { ends: CELLS, within: new Set(['tr', 'table']) },
  tr: { ends: ROWS, within: new Set(['table']) },
  thead: { ends: SECTIONS, within: new Set(['table']) },
  tbody: { ends: SECTIONS, within: new Set(['table']) },
  tfoot: { ends: SECTIONS, within: new Set(['table']) },
  option: { ends: OPTIONS, within: new Set(['select', 'datalist']) },
  a: { ends: LINK, within: TABLE },
};

/** The place in the stack of what a start tag ends by itself, as HTML leaves out end tags; -1 for nothing. */
export function closedBy(name: string, open: readonly string[]): number {
  const rule = Object.hasOwn(ENDS, name) ? ENDS[name] : undefined;
  let found = -1;
  for (let index = open.length - 1; rule && index >= 0; index -= 1) {
    const element = open[index] ?? '';
    if (rule.ends.has(element)) found = index;
    if (rule.within.has(element)) break;
  }
  return found === -1 && !INLINE.has(name) && !VOID.has(name) ? openParagraph(open) : found;
}

/** A block ends a paragraph that is open around nothing but inline elements. */
function openParagraph(open: readonly string[]): number {
  let index = open.length - 1;
  while (index >= 0 && INLINE.has(open[index] ?? '')) index -= 1;
  return PARAGRAPH.has(open[index] ?? '') ? index : -1;
}

/** Whether an end tag reaches past an element left open: a stray `</b>` ends no block, and a stray `</div>` no table. */
export function crosses(name: string, element = ''): boolean {
  if (INLINE.has(name)) return INLINE.has(element);
  if (TABLE.has(name)) return name === 'table' || element !== 'table';
  return !TABLE.has(element);
}
