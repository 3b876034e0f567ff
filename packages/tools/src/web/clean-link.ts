import { absoluteUrl } from './absolute-url.ts';
import { attribute, type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import { FEW, hasBlock, isBlock, type Place } from './place.ts';

/** A link with an absolute address around what it says; only its text where it leads nowhere, and nothing where it says nothing. */
export function cleanLink(place: Place): void {
  const { writer, element, within, base, children } = place;
  const reference = attribute(element, 'href')?.trim();
  // Links within the page lead nowhere in its text; those beside headings have nothing but a sign for a text.
  if (reference?.startsWith('#') && ANCHOR_SIGN.test(rawText(element, FEW))) return;
  const href = reference?.startsWith('#') ? undefined : absoluteUrl(reference, base);
  if (href === undefined) {
    children(within);
    return;
  }
  place.onLink(href);
  const at = linkPlace(element, place);
  if (at === undefined || within.link) {
    children(within);
    return;
  }
  if (at === element) {
    writer.element('a', { href }, () => children({ ...within, link: true }));
    return;
  }
  place.linkLater(href, at);
  children(within);
}

const ANCHOR_SIGN = /^\s*[#¶§🔗]?\s*$/u;

/** What a link is put around: all it holds, or of blocks the first that says something; undefined when nothing does. */
function linkPlace(element: HtmlElement, place: Pick<Place, 'shown'>): HtmlNode | undefined {
  const said = element.children.find((child) => says(child, place));
  if (!said) return undefined;
  if (!hasBlock(element)) return element;
  return isElement(said) && (isBlock(said) || hasBlock(said)) ? linkPlace(said, place) : said;
}

function says(node: HtmlNode, place: Pick<Place, 'shown'>): boolean {
  if (node.type === 'text') return node.data.trim() !== '';
  if (!isElement(node) || !place.shown(node)) return false;
  return oneLine(attribute(node, 'alt') ?? '') !== '' || node.children.some((child) => says(child, place));
}

/** A picture that says something: within a link only what it says. */
export function cleanImage({ writer, element, within, base }: Place): void {
  const alt = oneLine(attribute(element, 'alt') ?? '').slice(0, MAX_ALT);
  if (alt === '') return;
  const src = absoluteUrl(attribute(element, 'src'), base) ?? absoluteUrl(attribute(element, 'data-src'), base);
  if (src === undefined || within.link) writer.text(alt);
  else writer.leaf('img', { src, alt });
}

const MAX_ALT = 500;
