import { createHash } from 'node:crypto';
import type { FileContent, KeptPdf, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import type { LineRange } from './read-lines.ts';
import { relativePath } from './touched.ts';

/**
 * The text of pages, and the pages themselves for a model that reads PDFs; offset and limit count pages. No pictures of pages are made: where
 * there is neither a text nor a file, the error names the command for them.
 */
export async function readPdf(
  { pages: read }: ToolContext,
  { path, offset, limit }: LineRange,
  { data, bytes, sha256 }: FileContent,
): Promise<ToolOutcome> {
  if (read === undefined || sha256 === null) return failure('EPDF', `${path} is a PDF of ${bytes} bytes.`, otherForms);
  const found = await read({ data, offset, limit });
  if ('problem' in found) {
    const why = {
      password: 'is encrypted, and its text needs a password',
      broken: `is a PDF that cannot be read: ${found.message}`,
      late: 'is a PDF whose pages were not read in time',
      large: `is a PDF that is too large: ${found.message}`,
    }[found.problem];
    return failure('EPDF', `${path} ${why}.`, otherForms);
  }
  const { total_pages, file } = found;
  const pages = file === undefined ? found.pages : found.pages.slice(0, file.pages);
  if (pages.length === 0 && offset > 1) {
    const said = `${path} has ${total_pages} pages; page ${offset} is past its end.`;
    return failure('ERANGE', said, 'Choose a smaller offset.', { total_pages });
  }
  if (file === undefined && pages.every(({ text }) => text.trim() === '')) {
    const what =
      pages.length === total_pages
        ? 'has no text'
        : `has no text on its pages ${offset} to ${offset + pages.length - 1}`;
    return failure('EPDF', `${path} ${what}: its ${total_pages} pages may be pictures.`, otherForms, { total_pages });
  }
  const end = offset - 1 + pages.length;
  const next = end < total_pages && { next_offset: end + 1 };
  const pdf = file && { pdf: keptPdf(file) };
  const document = { total_pages, pages: pages.map((page) => ({ ...page })), ...next, ...pdf };
  return {
    status: 'succeeded',
    value: { path: relativePath(path), document, bytes, sha256 },
    ...(file !== undefined && { contents: [file.data] }),
  };
}

const keptPdf = ({ data, pages }: { data: Buffer; pages: number }): KeptPdf => ({
  ...{ media_type: 'application/pdf', pages, bytes: data.length },
  sha256: createHash('sha256').update(data).digest('hex'),
});

const otherForms =
  'Read its text with a command, e.g. `pdftotext -layout IN.pdf -` or pypdf. To see a page, make it an image with `pdftoppm -r 80 -png -f 1 -l 1 IN.pdf page`, and read that.';
