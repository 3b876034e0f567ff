import { absoluteUrl } from './absolute-url.ts';
import { attribute, type HtmlElement, type HtmlNode, isElement, oneLine, rawText } from './html-tree.ts';
import type { PageWriter } from './page-writer.ts';
import { fewChars, hasBlock, isBlock, type RenderContext } from './render-context.ts';

/** Code within a line. */
export function renderCode({ writer, element }: RenderContext): void {
  writer.code(oneLine(rawText(element)));
}

/** A block of code, with its language when the page names one. */
export function renderPre({ writer, element }: RenderContext): void {
  const text = rawText(element)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\u00a0', ' ')
    .replaceAll('\0', '')
    .replace(/^\n/, '')
    .trimEnd();
  if (text !== '') writer.preformatted(text, language(element));
}

/** The language in the classes of the `pre`, its `code` child, its parent or its grandparent; empty when none names one. */
function language(pre: HtmlElement): string {
  const code = pre.children.find((child) => isElement(child) && child.name === 'code');
  const { parent } = pre;
  for (const element of [code, pre, parent, parent?.parent]) {
    if (element?.type !== 'tag') continue;
    const named = languageClass.exec(` ${attribute(element, 'class') ?? ''} `)?.[1] ?? attribute(element, 'data-lang');
    if (named && /^[\w+#.-]{1,30}$/.test(named)) return named.toLowerCase();
  }
  return '';
}

const languageClass = /\s(?:language-|lang-|highlight-source-|brush:\s?)([\w+#.-]{1,30})[\s;]/i;

/** A link with an absolute address. Without a usable address only its text is written, and a link without text is dropped. */
export function renderLink(context: RenderContext): void {
  const { writer, element, scope, base, children } = context;
  const reference = attribute(element, 'href')?.trim();
  // A link within the page has no target in the Markdown. Links beside headings often hold nothing but a sign.
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

/** The node that the Markdown link surrounds: the element, or in a link around blocks the first block with text; undefined without any text. */
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

/** An image with alternative text. Within a link only that text is written. */
export function renderImage({ writer, element, scope, base }: RenderContext): void {
  const alt = oneLine(attribute(element, 'alt') ?? '').slice(0, maxAltChars);
  if (alt === '') return;
  const src = absoluteUrl(attribute(element, 'src'), base) ?? absoluteUrl(attribute(element, 'data-src'), base);
  if (src === undefined || scope.link) writer.text(alt);
  else writer.image(alt, src);
}

const maxAltChars = 500;

export function renderList({ writer, element, scope, shown, render }: RenderContext): void {
  const start = Number.parseInt(attribute(element, 'start') ?? '1', 10);
  const first = start >= 0 && start < maxNumber ? start : 1;
  writer.list(() => {
    let number = first;
    for (const child of element.children) {
      if (!isElement(child)) {
        if (rawText(child, fewChars).trim() !== '') render(child, scope);
      } else if (child.name !== 'li') {
        render(child, scope);
      } else if (shown(child)) {
        writer.item(element.name === 'ol' ? number : undefined, () => {
          renderCheckbox(writer, child);
          for (const node of child.children) render(node, scope);
        });
        number += 1;
      }
    }
  });
}

const maxNumber = 100_000_000;

function renderCheckbox(writer: PageWriter, item: HtmlElement): void {
  const [first] = item.children.filter((child) => isElement(child) || rawText(child, fewChars).trim() !== '');
  const box = first && isElement(first) && ['label', 'p', 'span'].includes(first.name) ? first.children[0] : first;
  if (!box || !isElement(box) || box.name !== 'input' || attribute(box, 'type') !== 'checkbox') return;
  writer.checkbox(attribute(box, 'checked') !== undefined);
}
