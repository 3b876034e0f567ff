export const voidElements = new Set(
  'area base br col embed frame hr img input link meta param source track wbr'.split(' ').concat('basefont', 'bgsound'),
);

/** Their content is not markup, or of no use as such: it is dropped, but for a title's. */
export const rawTextElements = new Set([
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

const inline = new Set(
  (
    'a abbr acronym b bdi bdo big button cite code data del dfn em font i ins kbd label mark nobr q s samp small span ' +
    'strike strong sub summary sup time tt u var'
  ).split(' '),
);

const table = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption']);
const cells = new Set(['td', 'th', 'caption']);
const rows = new Set(['tr', 'td', 'th', 'caption']);
const sections = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption', 'colgroup']);
const terms = new Set(['dt', 'dd']);
const item = new Set(['li']);
const link = new Set(['a']);
const paragraph = new Set(['p']);
const options = new Set(['option', 'optgroup']);

/** Starting an element ends the outermost of `ends` that is open within the nearest of `within`. */
const endRules: Record<string, { ends: ReadonlySet<string>; within: ReadonlySet<string> }> = {
  li: { ends: item, within: new Set(['ul', 'ol', 'menu', 'dir', 'table', 'td', 'th']) },
  dt: { ends: terms, within: new Set(['dl', 'table', 'td', 'th']) },
  dd: { ends: terms, within: new Set(['dl', 'table', 'td', 'th']) },
  td: { ends: cells, within: new Set(['tr', 'table']) },
  th: { ends: cells, within: new Set(['tr', 'table']) },
  tr: { ends: rows, within: new Set(['table']) },
  thead: { ends: sections, within: new Set(['table']) },
  tbody: { ends: sections, within: new Set(['table']) },
  tfoot: { ends: sections, within: new Set(['table']) },
  option: { ends: options, within: new Set(['select', 'datalist']) },
  a: { ends: link, within: table },
};

/** The place in the stack of what a start tag ends by itself, as HTML leaves out end tags; -1 for nothing. */
export function closedBy(name: string, open: readonly string[]): number {
  const rule = Object.hasOwn(endRules, name) ? endRules[name] : undefined;
  let found = -1;
  for (let index = open.length - 1; rule && index >= 0; index -= 1) {
    const element = open[index] ?? '';
    if (rule.ends.has(element)) found = index;
    if (rule.within.has(element)) break;
  }
  return found === -1 && !inline.has(name) && !voidElements.has(name) ? openParagraph(open) : found;
}

/** A block ends a paragraph that is open around nothing but inline elements. */
function openParagraph(open: readonly string[]): number {
  let index = open.length - 1;
  while (index >= 0 && inline.has(open[index] ?? '')) index -= 1;
  return paragraph.has(open[index] ?? '') ? index : -1;
}

/** Whether an end tag reaches past an element left open: a stray `</b>` ends no block, and a stray `</div>` no table. */
export function crosses(name: string, element = ''): boolean {
  if (inline.has(name)) return inline.has(element);
  if (table.has(name)) return name === 'table' || element !== 'table';
  return !table.has(element);
}
