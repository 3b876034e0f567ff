import { attribute, type HtmlElement, isElement } from './html-tree.ts';

/** Never content: what a program acts on, shows as a picture or fills in. */
const NO_TEXT = new Set(
  (
    'area audio canvas colgroup datalist embed head iframe input link map meta object optgroup option script select ' +
    'style svg template textarea title video annotation'
  ).split(' '),
);

/** Whether a reader of the page would see nothing of an element. */
export function isHidden(element: HtmlElement): boolean {
  if (NO_TEXT.has(element.name)) return true;
  // Pages hide the whole until a script has run.
  if (element.name === 'html' || element.name === 'body') return false;
  if (element.name === 'dialog' && attribute(element, 'open') === undefined) return true;
  const hidden = attribute(element, 'hidden');
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attribute(element, 'aria-hidden')?.toLowerCase() === 'true') return true;
  return INVISIBLE.test(attribute(element, 'style') ?? '');
}

const INVISIBLE = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i;

/** Whether an element leads around the site and is no part of what the page says. */
export function isNoise(element: HtmlElement): boolean {
  const role = attribute(element, 'role')?.trim().toLowerCase() ?? '';
  if (element.name === 'nav' || NAVIGATION.has(role)) return true;
  const frame = FRAME.has(element.name) || FRAME_ROLES.has(role);
  return frame && !withinContent(element) && !hasHeadline(element);
}

const NAVIGATION = new Set(['navigation', 'search', 'menu', 'menubar', 'toolbar']);
/** Of the page they are its frame; within an article they belong to it. */
const FRAME = new Set(['header', 'footer', 'aside']);
const FRAME_ROLES = new Set(['banner', 'contentinfo', 'complementary']);
const CONTENT = new Set(['main', 'article', 'section', 'blockquote', 'figure']);

function withinContent(element: HtmlElement): boolean {
  for (let { parent } = element; parent; { parent } = parent) {
    if (parent.type === 'tag' && CONTENT.has(parent.name)) return true;
  }
  return false;
}

/** Many pages keep the only title that one sees in their header. */
function hasHeadline(element: HtmlElement): boolean {
  return element.children.some((child) => isElement(child) && (child.name === 'h1' || hasHeadline(child)));
}
