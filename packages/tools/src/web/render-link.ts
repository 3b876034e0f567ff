import { absoluteUrl, attribute, type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import { fewChars, hasBlock, isBlock, type RenderContext } from './render-context.ts';

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
