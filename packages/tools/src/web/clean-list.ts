import { attribute, type HtmlElement, isElement, rawText } from './html-tree.ts';
import type { HtmlWriter } from './html-writer.ts';
import { block, FEW, margin, type Place, type Within } from './place.ts';

/** Nested further, quotations and lists are written without marks, or the marks would outweigh the text. */
const MAX_INDENTS = 16;

/** A list or a quotation, as long as there is room for its margin. */
export function indented(
  place: Place,
  name: string,
  attributes: Record<string, string>,
  body: (within: Within) => void,
): void {
  const { writer, within } = place;
  if (within.line || within.cell || within.indents >= MAX_INDENTS) {
    block(place, 'div', within);
    return;
  }
  writer.element(name, attributes, () => body({ ...within, indents: within.indents + 1 }));
}

export function cleanList(place: Place): void {
  const { writer, element, within, shown, write } = place;
  if (within.cell) {
    cellList(place);
    return;
  }
  const start = Number.parseInt(attribute(element, 'start') ?? '1', 10);
  const ordered = element.name === 'ol';
  const attributes: Record<string, string> =
    ordered && start >= 0 && start < MAX_NUMBER ? { start: String(start) } : {};
  indented(place, ordered ? 'ol' : 'ul', attributes, (inner) => {
    for (const child of element.children) {
      if (!isElement(child)) {
        if (rawText(child, FEW).trim() !== '') write(child, inner);
      } else if (child.name !== 'li') {
        write(child, inner);
      } else if (shown(child)) {
        writer.margin(2 * margin(inner));
        writer.element('li', {}, () => {
          checkbox(writer, child);
          for (const node of child.children) write(node, inner);
        });
      }
    }
  });
}

const MAX_NUMBER = 100_000_000;

/** Cells of Markdown hold no list: its items become lines. */
function cellList({ writer, element, within, write }: Place): void {
  for (const child of element.children) {
    const item = isElement(child) && child.name === 'li';
    if (item)
      writer.element('div', {}, () => {
        writer.text('• ');
        for (const node of child.children) write(node, within);
      });
    else write(child, within);
  }
}

function checkbox(writer: HtmlWriter, element: HtmlElement): void {
  const [first] = element.children.filter((child) => isElement(child) || rawText(child, FEW).trim() !== '');
  const within = first && isElement(first) && ['label', 'p', 'span'].includes(first.name) ? first.children[0] : first;
  if (!within || !isElement(within) || within.name !== 'input' || attribute(within, 'type') !== 'checkbox') return;
  const checked = attribute(within, 'checked') !== undefined;
  writer.leaf('input', { type: 'checkbox', ...(checked && { checked: '' }) });
}
