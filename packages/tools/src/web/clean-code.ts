import { attribute, type HtmlElement, isElement, oneLine, rawText } from './html-tree.ts';
import { margin, type Place } from './place.ts';

/** Code within a line. */
export function cleanCode({ writer, element }: Place): void {
  const text = oneLine(rawText(element));
  if (text !== '') writer.element('code', {}, () => writer.text(text));
}

/** A block of code, with its language as a class. */
export function cleanPre({ writer, element, within }: Place): void {
  const text = rawText(element)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\u00a0', ' ')
    .replace(/^\n/, '')
    .replace(/\n$/, '');
  if (text.trim() === '') return;
  if (within.line || within.cell) {
    writer.text(' ');
    writer.element('code', {}, () => writer.text(text));
    writer.text(' ');
    return;
  }
  const named = language(element);
  writer.element('pre', {}, () =>
    writer.element('code', named ? { class: `language-${named}` } : {}, () => writer.verbatim(text, margin(within))),
  );
}

/** The language that the classes of a `pre`, or of what stands directly within or around it, name; empty for none. */
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
