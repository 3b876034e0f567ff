import {
  absoluteUrl,
  attribute,
  fewChars,
  type HtmlElement,
  type HtmlNode,
  hasBlock,
  isBlock,
  isElement,
  isHidden,
  isNoise,
  oneLine,
  type RenderContext,
  rawText,
  type Scope,
} from './html-tree.ts';
import { openPageWriter, type PageText, type PageWriter } from './page-writer.ts';
import { renderTable } from './render-table.ts';

export function renderList({ writer, element, scope, shown, render }: RenderContext): void {
  const start = Number.parseInt(attribute(element, 'start') ?? '1', 10);
  const first = start >= 0 && start < maxNumber ? start : 1;
  writer.list(() => {
    let number = first;
    for (const child of element.children) {
      if (!isElement(child)) {
        if (rawText(child, fewChars).trim() !== '') render(child, scope);
      } else if (child.name !== 'li') {
        render(child, scope);
      } else if (shown(child)) {
        writer.item(element.name === 'ol' ? number : undefined, () => {
          renderCheckbox(writer, child);
          for (const node of child.children) render(node, scope);
        });
        number += 1;
      }
    }
  });
}

const maxNumber = 100_000_000;

function renderCheckbox(writer: PageWriter, item: HtmlElement): void {
  const [first] = item.children.filter((child) => isElement(child) || rawText(child, fewChars).trim() !== '');
  const box = first && isElement(first) && ['label', 'p', 'span'].includes(first.name) ? first.children[0] : first;
  if (!box || !isElement(box) || box.name !== 'input' || attribute(box, 'type') !== 'checkbox') return;
  writer.checkbox(attribute(box, 'checked') !== undefined);
}

/** A link with an absolute address. Without a usable address only its text is written, and a link without text is dropped. */
export function renderLink(context: RenderContext): void {
  const { writer, element, scope, base, children } = context;
  const reference = attribute(element, 'href')?.trim();
  // A link within the page has no target in the Markdown. Links next to headings often hold nothing but a sign.
  if (reference?.startsWith('#') && anchorSign.test(rawText(element, fewChars))) return;
  const href = reference?.startsWith('#') ? undefined : absoluteUrl(reference, base);
  const at = href === undefined || scope.link ? undefined : linkPosition(element, context);
  if (href === undefined || at === undefined) children(scope);
  else if (at === element) writer.link(href, () => children({ ...scope, link: true }));
  else {
    context.linkLater(href, at);
    children(scope);
  }
}

const anchorSign = /^\s*[#¶§🔗]?\s*$/u;

/** The node inside the Markdown link: the element, or in a link around blocks the first block with text; undefined without any text. */
function linkPosition(element: HtmlElement, context: Pick<RenderContext, 'shown'>): HtmlNode | undefined {
  const first = element.children.find((child) => hasText(child, context));
  if (!first) return undefined;
  if (!hasBlock(element)) return element;
  return isElement(first) && (isBlock(first) || hasBlock(first)) ? linkPosition(first, context) : first;
}

function hasText(node: HtmlNode, context: Pick<RenderContext, 'shown'>): boolean {
  if (node.type === 'text') return node.data.trim() !== '';
  if (!isElement(node) || !context.shown(node)) return false;
  return oneLine(attribute(node, 'alt') ?? '') !== '' || node.children.some((child) => hasText(child, context));
}

/** An image with alternative text. Within a link only the alternative text is written. */
export function renderImage({ writer, element, scope, base }: RenderContext): void {
  const alt = oneLine(attribute(element, 'alt') ?? '').slice(0, maxAltChars);
  if (alt === '') return;
  const src = absoluteUrl(attribute(element, 'src'), base) ?? absoluteUrl(attribute(element, 'data-src'), base);
  if (src === undefined || scope.link) writer.text(alt);
  else writer.image(alt, src);
}

const maxAltChars = 500;

/** Code within a line. */
function renderCode({ writer, element }: RenderContext): void {
  writer.code(oneLine(rawText(element)));
}

/** A block of code, with its language if named by the page. */
function renderPre({ writer, element }: RenderContext): void {
  const text = rawText(element)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\u00a0', ' ')
    .replaceAll('\0', '')
    .replace(/^\n/, '')
    .trimEnd();
  if (text !== '') writer.preformatted(text, language(element));
}

/** The language in the classes of the `pre`, its `code` child, its parent or its grandparent; empty without a named language. */
function language(pre: HtmlElement): string {
  const code = pre.children.find((child) => isElement(child) && child.name === 'code');
  const { parent } = pre;
  for (const element of [code, pre, parent, parent?.parent]) {
    if (element?.type !== 'tag') continue;
    const named = languageClass.exec(` ${attribute(element, 'class') ?? ''} `)?.[1] ?? attribute(element, 'data-lang');
    if (named && /^[\w+#.-]{1,30}$/.test(named)) return named.toLowerCase();
  }
  return '';
}

const languageClass = /\s(?:language-|lang-|highlight-source-|brush:\s?)([\w+#.-]{1,30})[\s;]/i;

export interface RenderOptions {
  /** `text`: without any marks. */
  format: 'markdown' | 'text';
  /** Resolves relative addresses. */
  base: string;
  /** Leaves out navigation and the header and footer of the page. */
  dropNoise: boolean;
}

/** Writes the visible text of the page, in a single walk over the tree. The depth of the tree bounds the recursion. */
export function renderHtml(nodes: readonly HtmlNode[], { format, base, dropNoise }: RenderOptions): PageText {
  const writer = openPageWriter(format, maxChars);
  const linked = new Map<HtmlNode, string>();
  const shown: RenderContext['shown'] = (element) => !isHidden(element) && !(dropNoise && isNoise(element));

  const inLink = (href: string | undefined, scope: Scope, body: (inner: Scope) => void) => {
    if (href === undefined || scope.link) body(scope);
    else writer.link(href, () => body({ ...scope, link: true }));
  };
  const render = (node: HtmlNode, scope: Scope) => {
    if (writer.isFull()) return;
    const block = isElement(node) && isBlock(node);
    inLink(block ? undefined : linked.get(node), scope, (inner) => {
      if (node.type === 'text') writer.text(node.data);
      else if (isElement(node) && shown(node)) renderElement(node, inner);
    });
  };
  const renderElement = (element: HtmlElement, scope: Scope) => {
    const children = (inner: Scope) =>
      // The link of a block stands within the block.
      inLink(isBlock(element) ? linked.get(element) : undefined, inner, (innermost) => {
        for (const child of element.children) render(child, innermost);
      });
    const linkLater = (href: string, at: HtmlNode) => linked.set(at, href);
    const rule = Object.hasOwn(rules, element.name) ? rules[element.name] : isBlock(element) ? paragraph : transparent;
    rule?.({ writer, element, scope, base, shown, children, render, linkLater });
  };

  for (const node of nodes) render(node, topLevel);
  return writer.end();
}

/** About 20 times the amount a model reads in a single result. */
const maxChars = 2_000_000;

const topLevel: Scope = { bold: false, italic: false, struck: false, raised: false, link: false };

const bold = (context: RenderContext) => marked(context, 'bold');
const italic = (context: RenderContext) => marked(context, 'italic');
const struck = (context: RenderContext) => marked(context, 'struck');

/** Elements with a rule of their own; others are a paragraph or only their children. */
const rules: Record<string, (context: RenderContext) => void> = {
  br: ({ writer }) => writer.lineBreak(),
  hr: ({ writer }) => writer.rule(),
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  b: bold,
  strong: bold,
  i: italic,
  em: italic,
  del: struck,
  s: struck,
  strike: struck,
  sup: raised,
  sub: raised,
  a: renderLink,
  img: renderImage,
  code: renderCode,
  kbd: renderCode,
  samp: renderCode,
  tt: renderCode,
  pre: renderPre,
  blockquote: ({ writer, children, scope }) => writer.quote(() => children(scope)),
  ul: renderList,
  ol: renderList,
  menu: renderList,
  dt: term,
  summary: term,
  table: renderTable,
  q({ writer, children, scope }) {
    writer.text('"');
    children(scope);
    writer.text('"');
  },
};

function paragraph({ writer, children, scope }: RenderContext): void {
  writer.paragraph(() => children(scope));
}

function transparent({ children, scope }: RenderContext): void {
  children(scope);
}

function heading({ writer, element, children, scope }: RenderContext): void {
  writer.heading(Number(element.name[1]), () => children(scope));
}

/** Markdown has no marks around blocks, and none around themselves. */
function marked({ writer, element, children, scope }: RenderContext, mark: 'bold' | 'italic' | 'struck'): void {
  if (scope[mark] || hasBlock(element)) children(scope);
  else writer.marked(mark, () => children({ ...scope, [mark]: true }));
}

/** Terms and summaries become bold paragraphs. */
function term(context: RenderContext): void {
  context.writer.paragraph(() => marked(context, 'bold'));
}

/** `10<sup>6</sup>` must not become 106. A footnote is a link and needs no mark. */
function raised({ writer, element, scope, children }: RenderContext): void {
  const footnote = element.children.some((child) => isElement(child) && child.name === 'a');
  if (footnote || scope.raised || hasBlock(element) || rawText(element, fewChars).trim() === '') children(scope);
  else writer.marked(element.name === 'sup' ? 'sup' : 'sub', () => children({ ...scope, raised: true }));
}
