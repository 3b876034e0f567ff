import * as htmlTree from './html-tree.ts';
import type { PageText } from './page-writer.ts';
import { renderHtml } from './render-html.ts';

export interface RenderedPage {
  title?: string;
  content: string;
  /** False when the end of an overlong page is missing. */
  complete: boolean;
}

/**
 * The text of an HTML page, as Markdown or plain text: without scripts, styles, navigation and hidden elements, with absolute addresses,
 * tables and code. Takes time in proportion to the source: a second for a large page. Never throws.
 *
 * @param page.url the address of the page after all redirects
 * @example
 * renderPage({ html: '<h1>Hi</h1><a href="/x">there', url: 'https://example.com/' }, 'markdown').content;
 * // '# Hi\n\n[there](https://example.com/x)'
 */
export function renderPage({ html, url }: { html: string; url: string }, format: 'markdown' | 'text'): RenderedPage {
  const tree = htmlTree.parseHtml(html);
  const base = htmlTree.absoluteUrl(attributeOf(tree, 'base[href]', 'href'), url) ?? url;
  const { content, complete } = mainPart(tree, { format, base });
  return { title: pageTitle(tree), content, complete: complete && tree.complete };
}

/** A `main` element with less text is not the main part. */
const leastChars = 200;

/** The main part, if any, else the page without its frame, else the whole page. */
function mainPart(tree: htmlTree.HtmlTree, options: { format: 'markdown' | 'text'; base: string }): PageText {
  const [main, ...others] = tree.$('main, [role="main"]').toArray().filter(htmlTree.isElement).filter(isShown);
  if (main && others.length === 0) {
    const rendered = renderHtml([main], { ...options, dropNoise: true });
    if (rendered.chars >= leastChars) return rendered;
  }
  const whole = tree.$.root()[0]?.children ?? [];
  const framed = renderHtml(whole, { ...options, dropNoise: true });
  return framed.chars === 0 ? renderHtml(whole, { ...options, dropNoise: false }) : framed;
}

function isShown(element: htmlTree.HtmlElement): boolean {
  for (let current: htmlTree.HtmlElement | null = element; current; ) {
    if (htmlTree.isHidden(current)) return false;
    const { parent }: htmlTree.HtmlElement = current;
    current = parent?.type === 'tag' ? parent : null;
  }
  return true;
}

function pageTitle(tree: htmlTree.HtmlTree): string | undefined {
  const title = htmlTree.oneLine(tree.$('title').first().text());
  const named = title || htmlTree.oneLine(attributeOf(tree, 'meta[property="og:title"]', 'content') ?? '');
  return (named || htmlTree.oneLine(tree.$('h1').first().text())).slice(0, maxTitleChars) || undefined;
}

const maxTitleChars = 500;

function attributeOf({ $ }: htmlTree.HtmlTree, selector: string, name: string): string | undefined {
  const [element] = $(selector).toArray();
  return htmlTree.isElement(element) ? htmlTree.attribute(element, name) : undefined;
}
