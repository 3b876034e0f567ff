import { attribute, type HtmlElement, isElement, rawText } from './html-tree.ts';
import type { PageWriter } from './page-writer.ts';
import { fewChars, type RenderContext } from './render-context.ts';

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
