import { cleanCode, cleanPre } from './clean-code.ts';
import { cleanImage, cleanLink } from './clean-link.ts';
import { cleanList, indented } from './clean-list.ts';
import { cleanTable } from './clean-table.ts';
import { type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import { createHtmlWriter } from './html-writer.ts';
import { isHidden, isNoise } from './noise.ts';
import { block, FEW, hasBlock, isBlock, margin, type Place, type Within } from './place.ts';

export interface PageLink {
  /** Absolute. */
  url: string;
  text: string;
}

export interface CleanHtml {
  /** Few elements, few attributes, no white space that means nothing; addresses absolute. */
  html: string;
  /** Characters of text within. */
  chars: number;
  /** Each address once, in the order of the page; at most 1000. */
  links: PageLink[];
  /** False when the page was too large, and its rest was left out. */
  complete: boolean;
}

export interface Cleaning {
  /** What relative addresses are relative to. */
  base: string;
  /** Whether navigation, page headers and footers are left out. */
  dropNoise: boolean;
}

/** What a reader of the page sees of nodes, in the HTML that Markdown has marks for. Recursion is bounded by the depth of the tree. */
export function cleanHtml(nodes: readonly HtmlNode[], { base, dropNoise }: Cleaning): CleanHtml {
  const writer = createHtmlWriter(MAX_HTML);
  const links = new Map<string, PageLink>();
  const linked = new Map<HtmlNode, string>();
  const shown: Place['shown'] = (element) => !isHidden(element) && !(dropNoise && isNoise(element));

  const inLink = (href: string | undefined, within: Within, body: (inner: Within) => void) => {
    if (href === undefined || within.link) body(within);
    else writer.element('a', { href }, () => body({ ...within, link: true }));
  };
  const write = (node: HtmlNode, within: Within) => {
    if (writer.full()) return;
    const block = isElement(node) && isBlock(node);
    inLink(block ? undefined : linked.get(node), within, (inner) => {
      if (node.type === 'text') writer.text(node.data);
      else if (isElement(node) && shown(node)) writeElement(node, inner);
    });
  };
  const writeElement = (element: HtmlElement, within: Within) => {
    const children = (inner: Within) =>
      // Of a block the link stands within.
      inLink(isBlock(element) ? linked.get(element) : undefined, inner, (innermost) => {
        for (const child of element.children) write(child, innermost);
      });
    const onLink = (url: string) => {
      if (links.size >= MAX_LINKS || links.has(url)) return;
      links.set(url, { url, text: oneLine(rawText(element, MAX_LINK_TEXT)) });
    };
    const linkLater = (href: string, at: HtmlNode) => linked.set(at, href);
    const rule = Object.hasOwn(RULES, element.name) ? RULES[element.name] : isBlock(element) ? plainBlock : transparent;
    rule?.({ writer, element, within, base, shown, children, write, linkLater, onLink });
  };

  for (const node of nodes) write(node, NOWHERE);
  return { ...writer.end(), links: [...links.values()] };
}

/**
 * Characters, margins of Markdown included. With it Turndown's memory stays below the limit of its process on every hostile page tried.
 */
const MAX_HTML = 4_000_000;
const MAX_LINKS = 1000;
const MAX_LINK_TEXT = 200;

const NOWHERE: Within = {
  bold: false,
  italic: false,
  struck: false,
  raised: false,
  link: false,
  line: false,
  cell: false,
  indents: 0,
};

/** Elements that are more than a block or nothing. */
const RULES: Record<string, (place: Place) => void> = {
  br({ writer, within }) {
    writer.margin(margin(within));
    if (within.line) writer.text(' ');
    else writer.leaf('br');
  },
  hr: ({ writer, within }) => (within.line || within.cell ? undefined : writer.leaf('hr')),
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  b: (place) => marked(place, 'strong', 'bold'),
  strong: (place) => marked(place, 'strong', 'bold'),
  i: (place) => marked(place, 'em', 'italic'),
  em: (place) => marked(place, 'em', 'italic'),
  del: (place) => marked(place, 'del', 'struck'),
  s: (place) => marked(place, 'del', 'struck'),
  strike: (place) => marked(place, 'del', 'struck'),
  sup: raised,
  sub: raised,
  a: cleanLink,
  img: cleanImage,
  code: cleanCode,
  kbd: cleanCode,
  samp: cleanCode,
  tt: cleanCode,
  pre: cleanPre,
  blockquote: (place) => indented(place, 'blockquote', {}, (within) => place.children(within)),
  ul: cleanList,
  ol: cleanList,
  menu: cleanList,
  dt: term,
  summary: term,
  table: cleanTable,
  q({ writer, children, within }) {
    writer.text('"');
    children(within);
    writer.text('"');
  },
};

function plainBlock(place: Place): void {
  block(place, 'div', place.within);
}

function transparent({ children, within }: Place): void {
  children(within);
}

function heading(place: Place): void {
  const { element, within } = place;
  if (within.line || within.cell) {
    block(place, 'div', within);
    return;
  }
  place.writer.element(element.name, {}, () => place.children({ ...within, line: true }));
}

/** Marks around blocks or around themselves are none in Markdown. */
function marked(place: Place, name: string, mark: 'bold' | 'italic' | 'struck'): void {
  const { within, element, children } = place;
  if (within[mark] || hasBlock(element)) {
    children(within);
    return;
  }
  place.writer.element(name, {}, () => children({ ...within, [mark]: true }));
}

/** Terms and summaries: bold blocks. */
function term(place: Place): void {
  const { writer, element, within, children } = place;
  if (within.line || within.bold || hasBlock(element)) {
    block(place, 'div', within);
    return;
  }
  writer.element('div', {}, () => writer.element('strong', {}, () => children({ ...within, bold: true })));
}

/** `10<sup>6</sup>` must not become 106. A footnote's mark is a link, and clear without. */
function raised({ writer, element, within, children }: Place): void {
  const footnote = element.children.some((child) => isElement(child) && child.name === 'a');
  if (footnote || within.raised || hasBlock(element) || rawText(element, FEW).trim() === '') {
    children(within);
    return;
  }
  writer.element(element.name, {}, () => children({ ...within, raised: true }));
}
