import type { HtmlElement, HtmlNode } from './html-tree.ts';
import type { PageWriter } from './page-writer.ts';

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
