import { attribute, type HtmlElement, isElement } from './html-tree.ts';

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
