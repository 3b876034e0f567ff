import { attribute, type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import { isHidden, isNoise } from './noise.ts';
import { openPageWriter, type PageText } from './page-writer.ts';
import { fewChars, hasBlock, isBlock, type RenderContext, type Scope } from './render-context.ts';
import { renderImage, renderLink } from './render-link.ts';
import { renderList } from './render-list.ts';
import { renderTable } from './render-table.ts';

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
