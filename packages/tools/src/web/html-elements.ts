export const voidElements = new Set(
  'area base br col embed frame hr img input link meta param source track wbr'.split(' ').concat('basefont', 'bgsound'),
);

/** Elements whose content is not read as markup. Such content is dropped, except for a title's. */
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

/** A start tag closes the outermost open element in `ends`, up to the nearest open element in `within`. */
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

/** The stack index of the element closed by a start tag, because HTML may omit end tags; -1 when the tag closes none. */
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

/** A block closes an open paragraph when only inline elements are open inside. */
function openParagraph(open: readonly string[]): number {
  let index = open.length - 1;
  while (index >= 0 && inline.has(open[index] ?? '')) index -= 1;
  return paragraph.has(open[index] ?? '') ? index : -1;
}

/** Whether an end tag may close past an open element: a stray `</b>` closes no block, and a stray `</div>` closes no table. */
export function crosses(name: string, element = ''): boolean {
  if (inline.has(name)) return inline.has(element);
  if (table.has(name)) return name === 'table' || element !== 'table';
  return !table.has(element);
}
