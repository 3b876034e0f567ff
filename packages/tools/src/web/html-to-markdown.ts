import { absoluteUrl } from './absolute-url.ts';
import { decodeBody } from './charset.ts';
import { type CleanHtml, cleanHtml } from './clean-html.ts';
import { attribute, type HtmlElement, type HtmlTree, isElement, oneLine, parseHtml } from './html-tree.ts';
import { parseMediaType } from './media-type.ts';
import { isHidden } from './noise.ts';
import { plainText } from './plain-text.ts';
import { type Conversion, type HtmlPage, type PreparedHtml, writeHtml } from './write-html.ts';

export interface HtmlBody {
  body: Buffer;
  /** The `Content-Type` header. */
  contentType?: string;
  /** Where the body came from in the end. */
  url: string;
}

/**
 * What a page of HTML says, as Markdown: without scripts, styles, navigation and what is hidden; addresses absolute; tables and code kept.
 * A page on which Turndown takes too long, or fails, comes as plain text; all else takes time in proportion to the body.
 *
 * @throws the reason of `signal` when it is aborted; nothing else, whatever the body is
 * @example
 * (await htmlToMarkdown({ body: Buffer.from('<h1>Hi</h1><a href="/x">there'), url: 'https://example.com/' })).markdown;
 * // '# Hi\n\n[there](https://example.com/x)'
 */
export async function htmlToMarkdown(page: HtmlBody, conversion: Conversion = {}): Promise<HtmlPage> {
  return writeHtml({ plain: async (html) => plainText(html) }, prepareHtml(page), conversion);
}

/** Reads a page: decodes, parses and cleans it. Takes a second for a large one. */
export function prepareHtml({ body, contentType, url }: HtmlBody): PreparedHtml {
  const { charset } = parseMediaType(contentType);
  const tree = parseHtml(decodeBody(body, { ...(charset ? { charset } : {}), html: true }));
  const base = absoluteUrl(attributeOf(tree, 'base[href]', 'href'), url) ?? url;
  const title = pageTitle(tree);
  const { html, links, complete } = mainPart(tree, base);
  return { ...(title && { title }), links, html, complete: complete && tree.complete };
}

/** With less, what calls itself the main part is not. */
const LEAST_TEXT = 200;

/** The main part where there is one, else the page without its frame, else the whole page. */
function mainPart(tree: HtmlTree, base: string): CleanHtml {
  const [main, ...others] = tree.$('main, [role="main"]').toArray().filter(isElement).filter(isShown);
  if (main && others.length === 0) {
    const cleaned = cleanHtml([main], { base, dropNoise: true });
    if (cleaned.chars >= LEAST_TEXT) return cleaned;
  }
  const whole = tree.$.root()[0]?.children ?? [];
  const framed = cleanHtml(whole, { base, dropNoise: true });
  return framed.chars === 0 ? cleanHtml(whole, { base, dropNoise: false }) : framed;
}

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
