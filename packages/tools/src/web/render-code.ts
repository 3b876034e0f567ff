import { attribute, type HtmlElement, isElement, oneLine, rawText } from './html-tree.ts';
import type { RenderContext } from './render-context.ts';

/** Code within a line. */
export function renderCode({ writer, element }: RenderContext): void {
  writer.code(oneLine(rawText(element)));
}

/** A block of code, with its language if named by the page. */
export function renderPre({ writer, element }: RenderContext): void {
  const text = rawText(element)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\u00a0', ' ')
    .replaceAll('\0', '')
    .replace(/^\n/, '')
    .trimEnd();
  if (text !== '') writer.preformatted(text, language(element));
}

/** The language in the classes of the `pre`, its `code` child, its parent or its grandparent; empty without a named language. */
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
