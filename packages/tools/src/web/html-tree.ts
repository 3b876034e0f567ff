import { type CheerioAPI, load } from 'cheerio/slim';
import { cutHtml } from './cut-html.ts';

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
