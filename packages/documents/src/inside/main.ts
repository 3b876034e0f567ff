import { createInterface } from 'node:readline';
import { getDocumentProxy } from 'unpdf';
import type { Page, PagesReply, PagesRequest } from '../protocol.ts';

/** Characters of the pages of an answer together, and of a single page. */
const mostText = 14 * 1024;

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Reads a request from each line, and answers with a line, until stdin ends. */
for await (const line of createInterface({ input: process.stdin })) {
  const reply = await pagesOf(JSON.parse(line) as PagesRequest).catch(problemOf);
  await new Promise<void>((written) => process.stdout.write(`${JSON.stringify(reply)}\n`, () => written()));
}

async function pagesOf({ pdf, offset, limit }: PagesRequest): Promise<PagesReply> {
  const document = await getDocumentProxy(new Uint8Array(Buffer.from(pdf, 'base64')));
  try {
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
  } finally {
    await document.loadingTask.destroy();
  }
}

/** The text in the order of the file. A PDF says where a line ends, and says nothing of columns and tables. */
async function textOf(document: Pdf, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
  page.cleanup();
  return text.trimEnd();
}

function problemOf(error: unknown): PagesReply {
  const { name = '', message = '' } = error instanceof Error ? error : {};
  return { problem: name === 'PasswordException' ? 'password' : 'broken', message: message.slice(0, 500) };
}
