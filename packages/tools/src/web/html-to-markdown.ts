import { absoluteUrl } from './absolute-url.ts';
import { decodeBody } from './charset.ts';
import {
  attribute,
  type HtmlElement,
  type HtmlNode,
  type HtmlTree,
  isElement,
  oneLine,
  parseHtml,
  rawText,
} from './html-tree.ts';
import { createMarkdownWriter, type TextFormat } from './markdown-writer.ts';
import { parseMediaType } from './media-type.ts';
import { isHidden } from './noise.ts';
import { type Rendering, renderNode } from './render-html.ts';

interface PageLink {
  /** Absolute. */
  url: string;
  text: string;
}

export interface HtmlPage {
  title?: string;
  markdown: string;
  /** Where the text leads, each address once, in the order of the page; at most 1000. */
  links: PageLink[];
  /** False when the page was too large to be written down whole. */
  complete: boolean;
}

export interface HtmlBody {
  body: Buffer;
  /** The `Content-Type` header. */
  contentType?: string;
  /** Where the body came from in the end. */
  url: string;
}

/**
 * What a page of HTML says, as Markdown: without scripts, styles, navigation and what is hidden; addresses absolute; tables and code kept.
 * Never throws, and takes time in proportion to the body, whatever it is.
 *
 * @param format `text`: without any marks
 * @example
 * htmlToMarkdown({ body: Buffer.from('<h1>Hi</h1><a href="/x">there'), url: 'https://example.com/' }).markdown;
 * // '# Hi\n\n[there](https://example.com/x)'
 */
export function htmlToMarkdown({ body, contentType, url }: HtmlBody, format: TextFormat = 'markdown'): HtmlPage {
  const { charset } = parseMediaType(contentType);
  const tree = parseHtml(decodeBody(body, { ...(charset ? { charset } : {}), html: true }));
  const base = absoluteUrl(attributeOf(tree, 'base[href]', 'href'), url) ?? url;
  const title = pageTitle(tree);
  const { text, links, complete } = mainText(tree, base, format);
  return { ...(title && { title }), markdown: text, links, complete: complete && tree.complete };
}

/** Characters of Markdown kept: some 20 times what a model reads at once. */
const MAX_MARKDOWN = 2_000_000;
/** With less, what calls itself the main part is not. */
const LEAST_TEXT = 200;

/** The main part where there is one, else the page without its frame, else the whole page. */
function mainText(tree: HtmlTree, base: string, format: TextFormat) {
  const [main, ...others] = tree.$('main, [role="main"]').toArray().filter(isElement).filter(isShown);
  if (main && others.length === 0) {
    const rendered = render([main], { base, format, dropNoise: true });
    if (rendered.text.length >= LEAST_TEXT) return rendered;
  }
  const whole = tree.$.root()[0]?.children ?? [];
  const framed = render(whole, { base, format, dropNoise: true });
  return framed.text === '' ? render(whole, { base, format, dropNoise: false }) : framed;
}

function render(nodes: readonly HtmlNode[], options: Pick<Rendering, 'base' | 'dropNoise'> & { format: TextFormat }) {
  const links = new Map<string, PageLink>();
  const writer = createMarkdownWriter(options.format, MAX_MARKDOWN);
  const onLink = (url: string, element: HtmlElement) => {
    if (links.size >= MAX_LINKS || links.has(url)) return;
    links.set(url, { url, text: oneLine(rawText(element, MAX_LINK_TEXT)) });
  };
  for (const node of nodes) renderNode({ ...options, onLink }, writer, node);
  return { ...writer.end(), links: [...links.values()] };
}

const MAX_LINKS = 1000;
const MAX_LINK_TEXT = 200;

function isShown(element: HtmlElement): boolean {
  for (let current: HtmlElement | null = element; current; ) {
    if (isHidden(current)) return false;
    const { parent }: HtmlElement = current;
    current = parent?.type === 'tag' ? parent : null;
  }
  return true;
}

function pageTitle(tree: HtmlTree): string | undefined {
  const title = oneLine(tree.$('title').first().text());
  const named = title || oneLine(attributeOf(tree, 'meta[property="og:title"]', 'content') ?? '');
  return (named || oneLine(tree.$('h1').first().text())).slice(0, MAX_TITLE) || undefined;
}

const MAX_TITLE = 500;

function attributeOf({ $ }: HtmlTree, selector: string, name: string): string | undefined {
  const [element] = $(selector).toArray();
  return isElement(element) ? attribute(element, name) : undefined;
}
