import { getDocumentProxy } from 'unpdf';

export type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

interface OpenPdf extends AsyncDisposable {
  document: Pdf;
}

export async function openPdf(data: Uint8Array): Promise<OpenPdf> {
  const document = await getDocumentProxy(new Uint8Array(data));
  return { document, [Symbol.asyncDispose]: () => document.loadingTask.destroy() };
}

/** The text in the order of the file. A PDF says where a line ends, and says nothing of columns and tables. */
export async function textOf(document: Pdf, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
  page.cleanup();
  return text.trimEnd();
}
