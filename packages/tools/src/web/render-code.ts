import { attribute, type HtmlElement, isElement, rawText } from './html-tree.ts';
import { codeFence } from './markdown-escape.ts';
import type { TextFormat } from './markdown-writer.ts';

/** The lines of a `pre`, fenced, with the language its classes name. */
export function codeBlock(pre: HtmlElement, format: TextFormat): string[] {
  // HTML ignores one line break after <pre>; the last one ends a line and begins none.
  const text = rawText(pre).replaceAll(/\r\n?/g, '\n').replaceAll('\u00a0', ' ').replace(/^\n/, '').replace(/\n$/, '');
  if (text.trim() === '') return [];
  if (format === 'text') return text.split('\n');
  const fence = codeFence(text);
  return [`${fence}${language(pre)}`, ...text.split('\n'), fence];
}

function language(pre: HtmlElement): string {
  const code = pre.children.find((child) => isElement(child) && child.name === 'code');
  const { parent } = pre;
  for (const element of [code, pre, parent, parent?.parent]) {
    if (element?.type !== 'tag') continue;
    const named = LANGUAGE.exec(` ${attribute(element, 'class') ?? ''} `)?.[1] ?? attribute(element, 'data-lang');
    if (named && /^[\w+#.-]{1,30}$/.test(named)) return named.toLowerCase();
  }
  return '';
}

const LANGUAGE = /\s(?:language-|lang-|highlight-source-|brush:\s?)([\w+#.-]{1,30})[\s;]/i;
