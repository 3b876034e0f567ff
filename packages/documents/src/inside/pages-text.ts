import type { Page, Pages } from '../protocol.ts';
import { type Pdf, textOf } from './pdf.ts';

/** Characters of the pages of an answer together, and of a single page. */
const mostText = 14 * 1024;

export async function pagesOf(document: Pdf, { offset, limit }: { offset: number; limit: number }): Promise<Pages> {
  const pages: Page[] = [];
  let left = mostText;
  for (let page = offset; page <= document.numPages && pages.length < limit && left > 0; page++) {
    const text = await textOf(document, page);
    if (pages.length > 0 && text.length > left) break;
    const shown = text.slice(0, mostText).toWellFormed();
    left -= text.length;
    pages.push({ page, text: shown, ...(text.length > mostText && { cut: text.length - mostText }) });
  }
  return { total_pages: document.numPages, pages };
}
