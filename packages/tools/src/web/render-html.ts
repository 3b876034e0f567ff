import { absoluteUrl } from './absolute-url.ts';
import { attribute, type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import { codeSpan, escapeText, linkTarget } from './markdown-escape.ts';
import type { Mark, MarkdownWriter } from './markdown-writer.ts';
import { isHidden, isNoise } from './noise.ts';
import { codeBlock } from './render-code.ts';
import { renderTable } from './render-table.ts';

export interface Rendering {
  /** What relative addresses are relative to. */
  base: string;
  /** Whether navigation, page headers and footers are left out. */
  dropNoise: boolean;
  onLink(href: string, element: HtmlElement): void;
}

/** Writes what a reader of the page sees of a node. Recursion is bounded by the depth of the tree. */
export function renderNode(rendering: Rendering, writer: MarkdownWriter, node: HtmlNode): void {
  if (writer.full()) return;
  if (node.type === 'text') writer.text(node.data);
  else if (isElement(node) && !isHidden(node) && !(rendering.dropNoise && isNoise(node))) {
    renderElement(rendering, writer, node);
  }
}

function renderChildren(rendering: Rendering, writer: MarkdownWriter, element: HtmlElement): void {
  for (const child of element.children) renderNode(rendering, writer, child);
}

function renderElement(rendering: Rendering, writer: MarkdownWriter, element: HtmlElement): void {
  const children = () => renderChildren(rendering, writer, element);
  const rule = Object.hasOwn(RULES, element.name) ? RULES[element.name] : undefined;
  if (rule) rule({ rendering, writer, element, children });
  else if (BLOCKS.has(element.name)) block(writer, children);
  else children();
}

interface Place {
  rendering: Rendering;
  writer: MarkdownWriter;
  element: HtmlElement;
  children: () => void;
}

const STRONG: Mark = { open: '**', close: '**' };
const EMPHASIS: Mark = { open: '*', close: '*' };
const STRUCK: Mark = { open: '~~', close: '~~' };
const NOTHING: Mark = { open: '', close: '' };

function marks(writer: MarkdownWriter, mark: Mark): Mark {
  return writer.format === 'markdown' ? mark : NOTHING;
}

const strong = ({ writer, children }: Place) => writer.marked(marks(writer, STRONG), children);
const emphasis = ({ writer, children }: Place) => writer.marked(marks(writer, EMPHASIS), children);
const struck = ({ writer, children }: Place) => writer.marked(marks(writer, STRUCK), children);
const strongBlock = (place: Place) => block(place.writer, () => strong(place));

/** Elements that are more than a block or nothing. */
const RULES: Record<string, (place: Place) => void> = {
  br: ({ writer }) => writer.lineBreak(),
  hr: ({ writer }) => block(writer, () => writer.lines(writer.format === 'markdown' ? ['---'] : [])),
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  b: strong,
  strong,
  i: emphasis,
  em: emphasis,
  del: struck,
  s: struck,
  strike: struck,
  sup: raised,
  sub: raised,
  a: link,
  img: image,
  code,
  kbd: code,
  samp: code,
  tt: code,
  pre: ({ writer, element }) => block(writer, () => writer.lines(codeBlock(element, writer.format))),
  blockquote: ({ writer, children }) => block(writer, () => writer.indented('> ', '> ', children)),
  ul: list,
  ol: list,
  menu: list,
  li: ({ writer, children }) => item(writer, '- ', children),
  dt: strongBlock,
  dd({ writer, children }) {
    writer.tighten();
    writer.indented(': ', '  ', children);
    writer.endBlock(2);
  },
  summary: strongBlock,
  table: ({ rendering, writer, element }) =>
    block(writer, () => renderTable(writer, element, (inner, node) => renderNode(rendering, inner, node))),
  q({ writer, children }) {
    writer.inline('"');
    children();
    writer.inline('"');
  },
};

const BLOCKS = new Set(
  (
    'address article aside body caption center dd details dialog dir div dl fieldset figcaption figure footer form header ' +
    'hgroup html legend main nav noscript p search section tbody td tfoot th thead tr'
  ).split(' '),
);

function block(writer: MarkdownWriter, body: () => void): void {
  writer.endBlock(2);
  body();
  writer.endBlock(2);
}

function heading({ writer, element, children }: Place): void {
  const level = Number(element.name[1]);
  const mark = writer.format === 'markdown' ? `${'#'.repeat(level)} ` : '';
  block(writer, () => writer.indented(mark, '', () => writer.oneLine(children)));
}

function link({ rendering, writer, element, children }: Place): void {
  const reference = attribute(element, 'href')?.trim();
  // Links within the page lead nowhere in its text; those beside headings have nothing but a sign for a text.
  if (reference?.startsWith('#') && ANCHOR_SIGN.test(rawText(element, FEW))) return;
  const href = reference?.startsWith('#') ? undefined : absoluteUrl(reference, rendering.base);
  if (href !== undefined) rendering.onLink(href, element);
  if (href === undefined || writer.format === 'text') children();
  else writer.marked({ open: '[', close: `](${linkTarget(href)})` }, children);
}

/** Characters that tell whether there is anything to read. */
const FEW = 100;
const ANCHOR_SIGN = /^\s*[#¶§🔗]?\s*$/u;

function image({ rendering, writer, element }: Place): void {
  const alt = oneLine(attribute(element, 'alt') ?? '').slice(0, MAX_ALT);
  if (alt === '') return;
  const source =
    absoluteUrl(attribute(element, 'src'), rendering.base) ??
    absoluteUrl(attribute(element, 'data-src'), rendering.base);
  if (writer.format === 'text' || source === undefined || hasAncestor(element, 'a')) writer.text(alt);
  else writer.inline(`![${escapeText(alt)}](${linkTarget(source)})`);
}

const MAX_ALT = 500;

function code({ writer, element }: Place): void {
  const text = oneLine(rawText(element));
  if (text === '') return;
  writer.inline(writer.format === 'markdown' ? codeSpan(text) : text);
}

/** `10<sup>6</sup>` must not become 106. A footnote's mark is a link, and clear without. */
function raised({ writer, element, children }: Place): void {
  const footnote = element.children.some((child) => isElement(child) && child.name === 'a');
  const plain = footnote || rawText(element, FEW).trim() === '';
  const markdown = writer.format === 'markdown';
  const sign = element.name === 'sup' ? '^' : '_';
  if (!plain) writer.inline(markdown ? `<${element.name}>` : sign);
  children();
  if (!plain && markdown) writer.inline(`</${element.name}>`);
}

function list({ rendering, writer, element }: Place): void {
  const nested = hasAncestor(element, 'li');
  if (nested) writer.tighten();
  else writer.endBlock(2);
  const start = Number.parseInt(attribute(element, 'start') ?? '1', 10);
  let number = start >= 0 && start < MAX_NUMBER ? start : 1;
  for (const child of element.children) {
    if (isElement(child) && child.name === 'li') {
      if (isHidden(child)) continue;
      item(writer, element.name === 'ol' ? `${number++}. ` : '- ', () => {
        checkbox(writer, child);
        renderChildren(rendering, writer, child);
      });
    } else {
      renderNode(rendering, writer, child);
    }
  }
  if (nested) writer.tighten();
  else writer.endBlock(2);
}

const MAX_NUMBER = 100_000_000;

function item(writer: MarkdownWriter, mark: string, children: () => void): void {
  writer.indented(mark, ' '.repeat(mark.length), children);
  writer.tighten();
}

function checkbox(writer: MarkdownWriter, element: HtmlElement): void {
  const [first] = element.children.filter((child) => isElement(child) || rawText(child, FEW).trim() !== '');
  const within = first && isElement(first) && ['label', 'p', 'span'].includes(first.name) ? first.children[0] : first;
  if (!within || !isElement(within) || within.name !== 'input' || attribute(within, 'type') !== 'checkbox') return;
  writer.inline(attribute(within, 'checked') === undefined ? '[ ]' : '[x]');
  writer.text(' ');
}

function hasAncestor(element: HtmlElement, name: string): boolean {
  for (let { parent } = element; parent; { parent } = parent) {
    if (parent.type === 'tag' && parent.name === name) return true;
  }
  return false;
}
