import { createInterface } from 'node:readline';
import type { DocumentRequest, Pages, PagesFile, PdfProblem } from '../protocol.ts';
import { pagesOf } from './pages-text.ts';
import { openPdf } from './pdf.ts';

/** Reads a request from each line, and answers with a line, until stdin ends. */
for await (const line of createInterface({ input: process.stdin })) {
  const reply = await answer(JSON.parse(line) as DocumentRequest).catch(problemOf);
  await new Promise<void>((written) => process.stdout.write(`${JSON.stringify(reply)}\n`, () => written()));
}

async function answer(request: DocumentRequest): Promise<Pages | PagesFile | PdfProblem> {
  await using pdf = await openPdf(Buffer.from(request.pdf, 'base64'));
  if (request.asks === 'pages') return await pagesOf(pdf.document, request);
  // pdf-lib takes 0.2 s to load, and most files are asked for their text first.
  const { fileOf } = await import('./pages-file.ts');
  return await fileOf(pdf.document, request);
}

function problemOf(error: unknown): PdfProblem {
  const { name = '', message = '' } = error instanceof Error ? error : {};
  return { problem: name === 'PasswordException' ? 'password' : 'broken', message: message.slice(0, 500) };
}
