import { type CheerioAPI, load } from 'cheerio/slim';
import { cutHtml } from './cut-html.ts';
import type { PageWriter } from './page-writer.ts';

export type HtmlNode = ReturnType<CheerioAPI['root']>[number]['children'][number];
export type HtmlElement = Extract<HtmlNode, { attribs: object }>;

export interface HtmlTree {
  $: CheerioAPI;
  /** False when the rest of a document with too many elements is missing. */
  complete: boolean;
}

/** A document of bounded depth and size, from any text. Never throws. */
export function parseHtml(source: string): HtmlTree {
  const { html, complete } = cutHtml(source);
  // A single root element: the selectors of cheerio take time in the square of the number of top-level nodes (40 s for 100,000).
  return { $: load(`<html>${html}</html>`), complete };
}

export function isElement(node: HtmlNode | null | undefined): node is HtmlElement {
  return node?.type === 'tag' || node?.type === 'script' || node?.type === 'style';
}

export function attribute(element: HtmlElement, name: string): string | undefined {
  return Object.hasOwn(element.attribs, name) ? element.attribs[name] : undefined;
}

/**
 * The text of a node, unchanged from the document; `br` is a line break. The depth of the tree bounds the recursion.
 *
 * @param limit characters to read at most: a check of every element of a nest must not read the whole nest each time
 */
export function rawText(node: HtmlNode, limit = Number.POSITIVE_INFINITY): string {
  const pieces: string[] = [];
  let length = 0;
  const collect = (current: HtmlNode) => {
    const piece = current.type === 'text' ? current.data : isElement(current) && current.name === 'br' ? '\n' : '';
    pieces.push(piece);
    length += piece.length;
    if (!isElement(current)) return;
    for (const child of current.children) {
      if (length >= limit) return;
      collect(child);
    }
  };
  collect(node);
  return pieces.join('').slice(0, limit);
}

/** Text on a single line: each run of white space becomes a single blank. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Characters. Without this limit, links relative to a long base address multiply the size of a page. */
const maxUrl = 2048;

/**
 * An absolute address for a reader to follow; undefined for other schemes (`data:`, `javascript:`), invalid URLs and overlong addresses.
 */
export function absoluteUrl(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || reference.length > maxUrl || !URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return followed.has(protocol) && href.length <= maxUrl ? href : undefined;
}

const followed = new Set(['http:', 'https:', 'mailto:']);

/** Elements without text for a reader: scripts, pictures, forms. */
const noText = new Set(
  (
    'area audio canvas colgroup datalist embed head iframe input link map meta object optgroup option script select ' +
    'style svg template textarea title video annotation'
  ).split(' '),
);

/** Whether a reader of the page sees nothing of an element. */
export function isHidden(element: HtmlElement): boolean {
  if (noText.has(element.name)) return true;
  // Some pages hide everything until a script has run.
  if (element.name === 'html' || element.name === 'body') return false;
  if (element.name === 'dialog' && attribute(element, 'open') === undefined) return true;
  const hidden = attribute(element, 'hidden');
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attribute(element, 'aria-hidden')?.toLowerCase() === 'true') return true;
  return invisible.test(attribute(element, 'style') ?? '');
}

const invisible = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i;

/** Whether an element is navigation or the frame of the page, and not its content. */
export function isNoise(element: HtmlElement): boolean {
  const role = attribute(element, 'role')?.trim().toLowerCase() ?? '';
  if (element.name === 'nav' || navigation.has(role)) return true;
  const frame = frameElements.has(element.name) || frameRoles.has(role);
  return frame && !withinContent(element) && !hasHeadline(element);
}

const navigation = new Set(['navigation', 'search', 'menu', 'menubar', 'toolbar']);
/** At the top level they frame the page; within an article they belong to the article. */
const frameElements = new Set(['header', 'footer', 'aside']);
const frameRoles = new Set(['banner', 'contentinfo', 'complementary']);
const content = new Set(['main', 'article', 'section', 'blockquote', 'figure']);

function withinContent(element: HtmlElement): boolean {
  for (let { parent } = element; parent; { parent } = parent) {
    if (parent.type === 'tag' && content.has(parent.name)) return true;
  }
  return false;
}

/** In many pages the header holds the only visible title. */
function hasHeadline(element: HtmlElement): boolean {
  return element.children.some((child) => isElement(child) && (child.name === 'h1' || hasHeadline(child)));
}

/** The marks around an element: Markdown cannot nest a mark within the same mark, nor a link within a link. */
export interface Scope {
  bold: boolean;
  italic: boolean;
  struck: boolean;
  raised: boolean;
  link: boolean;
}

/** An element, and the surroundings for its rule. */
export interface RenderContext {
  writer: PageWriter;
  element: HtmlElement;
  scope: Scope;
  /** Resolves relative addresses. */
  base: string;
  /** Whether a reader of the page sees the element. */
  shown(element: HtmlElement): boolean;
  /** Renders the children of the element. */
  children(scope: Scope): void;
  render(node: HtmlNode, scope: Scope): void;
  /** Puts a link around a descendant of the element when the walk reaches the descendant. */
  linkLater(href: string, at: HtmlNode): void;
}

const blocks = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noscript ol p pre search section summary table tbody td tfoot ' +
    'th thead tr ul'
  ).split(' '),
);

export function isBlock({ name }: HtmlElement): boolean {
  return blocks.has(name);
}

export function hasBlock(element: HtmlElement): boolean {
  return element.children.some((child) => child.type === 'tag' && (isBlock(child) || hasBlock(child)));
}

/** Enough characters to see whether an element has any text. */
export const fewChars = 100;
