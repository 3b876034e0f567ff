import * as html from './html-tree.ts';
import { openPageWriter, type PageText, type PageWriter } from './page-writer.ts';
import { renderTable } from './render-table.ts';

function renderList({ writer, element, scope, shown, render }: html.RenderContext): void {
  const start = Number.parseInt(html.attribute(element, 'start') ?? '1', 10);
  const first = start >= 0 && start < maxNumber ? start : 1;
  writer.list(() => {
    let number = first;
    for (const child of element.children) {
      if (!html.isElement(child)) {
        if (html.rawText(child, html.fewChars).trim() !== '') render(child, scope);
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

function renderCheckbox(writer: PageWriter, item: html.HtmlElement): void {
  const [first] = item.children.filter(
    (child) => html.isElement(child) || html.rawText(child, html.fewChars).trim() !== '',
  );
  const box = first && html.isElement(first) && ['label', 'p', 'span'].includes(first.name) ? first.children[0] : first;
  if (!box || !html.isElement(box) || box.name !== 'input' || html.attribute(box, 'type') !== 'checkbox') return;
  writer.checkbox(html.attribute(box, 'checked') !== undefined);
}

/** A link with an absolute address. Without a usable address only its text is written, and a link without text is dropped. */
function renderLink(context: html.RenderContext): void {
  const { writer, element, scope, base, children } = context;
  const reference = html.attribute(element, 'href')?.trim();
  // A link within the page has no target in the Markdown. Links next to headings often hold nothing but a sign.
  if (reference?.startsWith('#') && anchorSign.test(html.rawText(element, html.fewChars))) return;
  const href = reference?.startsWith('#') ? undefined : html.absoluteUrl(reference, base);
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
function linkPosition(
  element: html.HtmlElement,
  context: Pick<html.RenderContext, 'shown'>,
): html.HtmlNode | undefined {
  const first = element.children.find((child) => hasText(child, context));
  if (!first) return undefined;
  if (!html.hasBlock(element)) return element;
  return html.isElement(first) && (html.isBlock(first) || html.hasBlock(first)) ? linkPosition(first, context) : first;
}

function hasText(node: html.HtmlNode, context: Pick<html.RenderContext, 'shown'>): boolean {
  if (node.type === 'text') return node.data.trim() !== '';
  if (!html.isElement(node) || !context.shown(node)) return false;
  return (
    html.oneLine(html.attribute(node, 'alt') ?? '') !== '' || node.children.some((child) => hasText(child, context))
  );
}

/** An image with alternative text. Within a link only the alternative text is written. */
function renderImage({ writer, element, scope, base }: html.RenderContext): void {
  const alt = html.oneLine(html.attribute(element, 'alt') ?? '').slice(0, maxAltChars);
  if (alt === '') return;
  const src =
    html.absoluteUrl(html.attribute(element, 'src'), base) ??
    html.absoluteUrl(html.attribute(element, 'data-src'), base);
  if (src === undefined || scope.link) writer.text(alt);
  else writer.image(alt, src);
}

const maxAltChars = 500;

/** Code within a line. */
function renderCode({ writer, element }: html.RenderContext): void {
  writer.code(html.oneLine(html.rawText(element)));
}

/** A block of code, with its language if named by the page. */
function renderPre({ writer, element }: html.RenderContext): void {
  const text = html
    .rawText(element)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\u00a0', ' ')
    .replaceAll('\0', '')
    .replace(/^\n/, '')
    .trimEnd();
  if (text !== '') writer.preformatted(text, language(element));
}

/** The language in the classes of the `pre`, its `code` child, its parent or its grandparent; empty without a named language. */
function language(pre: html.HtmlElement): string {
  const code = pre.children.find((child) => html.isElement(child) && child.name === 'code');
  const { parent } = pre;
  for (const element of [code, pre, parent, parent?.parent]) {
    if (element?.type !== 'tag') continue;
    const named =
      languageClass.exec(` ${html.attribute(element, 'class') ?? ''} `)?.[1] ?? html.attribute(element, 'data-lang');
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
export function renderHtml(nodes: readonly html.HtmlNode[], { format, base, dropNoise }: RenderOptions): PageText {
  const writer = openPageWriter(format, maxChars);
  const linked = new Map<html.HtmlNode, string>();
  const shown: html.RenderContext['shown'] = (element) =>
    !html.isHidden(element) && !(dropNoise && html.isNoise(element));

  const inLink = (href: string | undefined, scope: html.Scope, body: (inner: html.Scope) => void) => {
    if (href === undefined || scope.link) body(scope);
    else writer.link(href, () => body({ ...scope, link: true }));
  };
  const render = (node: html.HtmlNode, scope: html.Scope) => {
    if (writer.isFull()) return;
    const block = html.isElement(node) && html.isBlock(node);
    inLink(block ? undefined : linked.get(node), scope, (inner) => {
      if (node.type === 'text') writer.text(node.data);
      else if (html.isElement(node) && shown(node)) renderElement(node, inner);
    });
  };
  const renderElement = (element: html.HtmlElement, scope: html.Scope) => {
    const children = (inner: html.Scope) =>
      // The link of a block stands within the block.
      inLink(html.isBlock(element) ? linked.get(element) : undefined, inner, (innermost) => {
        for (const child of element.children) render(child, innermost);
      });
    const linkLater = (href: string, at: html.HtmlNode) => linked.set(at, href);
    const rule = Object.hasOwn(rules, element.name)
      ? rules[element.name]
      : html.isBlock(element)
        ? paragraph
        : transparent;
    rule?.({ writer, element, scope, base, shown, children, render, linkLater });
  };

  for (const node of nodes) render(node, topLevel);
  return writer.end();
}

/** About 20 times the amount a model reads in a single result. */
const maxChars = 2_000_000;

const topLevel: html.Scope = { bold: false, italic: false, struck: false, raised: false, link: false };

const bold = (context: html.RenderContext) => marked(context, 'bold');
const italic = (context: html.RenderContext) => marked(context, 'italic');
const struck = (context: html.RenderContext) => marked(context, 'struck');

/** Elements with a rule of their own; others are a paragraph or only their children. */
const rules: Record<string, (context: html.RenderContext) => void> = {
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

function paragraph({ writer, children, scope }: html.RenderContext): void {
  writer.paragraph(() => children(scope));
}

function transparent({ children, scope }: html.RenderContext): void {
  children(scope);
}

function heading({ writer, element, children, scope }: html.RenderContext): void {
  writer.heading(Number(element.name[1]), () => children(scope));
}

/** Markdown has no marks around blocks, and none around themselves. */
function marked({ writer, element, children, scope }: html.RenderContext, mark: 'bold' | 'italic' | 'struck'): void {
  if (scope[mark] || html.hasBlock(element)) children(scope);
  else writer.marked(mark, () => children({ ...scope, [mark]: true }));
}

/** Terms and summaries become bold paragraphs. */
function term(context: html.RenderContext): void {
  context.writer.paragraph(() => marked(context, 'bold'));
}

/** `10<sup>6</sup>` must not become 106. A footnote is a link and needs no mark. */
function raised({ writer, element, scope, children }: html.RenderContext): void {
  const footnote = element.children.some((child) => html.isElement(child) && child.name === 'a');
  if (footnote || scope.raised || html.hasBlock(element) || html.rawText(element, html.fewChars).trim() === '')
    children(scope);
  else writer.marked(element.name === 'sup' ? 'sup' : 'sub', () => children({ ...scope, raised: true }));
}
