import { attribute, type HtmlElement, type HtmlNode, isElement, parseHtml } from './html-tree.ts';

/** The text of cleaned HTML, without marks: blocks apart, one line a row of a table, code as it is. Time in proportion to it. */
export function plainText(html: string): string {
  const out: string[] = [];
  let breaks = 0;
  const say = (text: string) => {
    if (out.length > 0) out.push('\n'.repeat(breaks));
    breaks = 0;
    out.push(text);
  };
  const end = (count: number) => {
    if (breaks === 0 && out.length > 0) out.push((out.pop() ?? '').trimEnd());
    breaks = Math.max(breaks, count);
  };
  const children = (element: HtmlElement, within: string) => {
    for (const [index, child] of element.children.entries()) write(child, within, index);
  };
  const write = (node: HtmlNode, within: string, index: number) => {
    if (node.type === 'text') {
      const text = within !== 'pre' && (breaks > 0 || out.length === 0) ? node.data.trimStart() : node.data;
      if (text !== '') say(text);
    }
    if (!isElement(node)) return;
    const { name } = node;
    const gap = within === 'cell' ? 0 : (GAPS[name] ?? 0);
    if (gap > 0) end(gap);
    if (within === 'cell' && name in GAPS) say(' ');
    if (name === 'br') end(1);
    if (name === 'li') say(within === 'ol' ? `${firstNumber(node) + index}. ` : '- ');
    if (name === 'img') say(attribute(node, 'alt') ?? '');
    if (name === 'sup') say('^');
    if (name === 'sub') say('_');
    if ((name === 'td' || name === 'th') && index > 0) say('\t');
    children(node, WITHIN[name] ?? (within === 'cell' || within === 'pre' ? within : ''));
    if (gap > 0) end(gap);
  };
  const { $ } = parseHtml(html);
  for (const node of $.root()[0]?.children ?? []) write(node, '', 0);
  return out.join('').trim();
}

function firstNumber({ parent }: HtmlElement): number {
  return Number(parent?.type === 'tag' ? (attribute(parent, 'start') ?? 1) : 1);
}

/** Line breaks around an element, at least. */
const GAPS: Record<string, number> = {
  div: 2,
  hr: 2,
  pre: 2,
  blockquote: 2,
  table: 2,
  ul: 1,
  ol: 1,
  li: 1,
  tr: 1,
  h1: 2,
  h2: 2,
  h3: 2,
  h4: 2,
  h5: 2,
  h6: 2,
};

const WITHIN: Record<string, string> = { pre: 'pre', ol: 'ol', ul: 'ul', td: 'cell', th: 'cell' };
