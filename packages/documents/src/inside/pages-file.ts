import type { PagesFile, PdfProblem } from '../protocol.ts';
import { bareFile } from './bare-file.ts';
import { openPdf, type Pdf, textOf } from './pdf.ts';

/** More text is not searched for secrets, so its pages are not given out. */
const mostTexts = 1024 * 1024;

/** The pages from `first` to `last` as a file of their own: fewer of them when they are too large together. */
export async function fileOf(
  document: Pdf,
  { first, last, most }: { first: number; last: number; most: number },
): Promise<PagesFile | PdfProblem> {
  for (let count = last - first + 1; count > 0; count = count === 1 ? 0 : Math.ceil(count / 2)) {
    const pages = Array.from({ length: count }, (_, at) => first - 1 + at);
    const extracted = await document.extractPages([{ document: null, includePages: pages }]);
    const file = await bareFile(extracted, count);
    if (file === undefined) return { problem: 'broken', message: 'its pages cannot be taken out of the file' };
    if (file.length > most) continue;
    const texts = await textsOf(file, count);
    if (texts === undefined || texts.length > mostTexts) continue;
    return { file: Buffer.from(file).toString('base64'), pages: count, texts };
  }
  return { problem: 'large', message: `a page of it has more than ${most} bytes` };
}

/** All texts of the new file, read again. @returns undefined when the number of pages is wrong */
async function textsOf(file: Uint8Array, count: number): Promise<string | undefined> {
  await using pdf = await openPdf(file);
  if (pdf.document.numPages !== count) return undefined;
  const texts: string[] = [];
  for (let number = 1; number <= count; number++) {
    const page = await pdf.document.getPage(number);
    texts.push(await textOf(pdf.document, number), ...(await page.getAnnotations()).map((one) => JSON.stringify(one)));
  }
  return texts.join('\n').toWellFormed();
}
