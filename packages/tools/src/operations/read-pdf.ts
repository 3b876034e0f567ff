import type { FileContent, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import type { LineRange } from './read-lines.ts';
import { relativePath } from './touched.ts';

/** The text of pages; offset and limit count pages. Pictures of pages are not made: an error without text names the command for them. */
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
    }[found.problem];
    return failure('EPDF', `${path} ${why}.`, otherForms);
  }
  const { total_pages, pages } = found;
  if (pages.length === 0 && offset > 1) {
    const said = `${path} has ${total_pages} pages; page ${offset} is past its end.`;
    return failure('ERANGE', said, 'Choose a smaller offset.', { total_pages });
  }
  if (pages.every(({ text }) => text.trim() === '')) {
    const what =
      pages.length === total_pages
        ? 'has no text'
        : `has no text on its pages ${offset} to ${offset + pages.length - 1}`;
    return failure('EPDF', `${path} ${what}: its ${total_pages} pages may be pictures.`, otherForms, { total_pages });
  }
  const end = offset - 1 + pages.length;
  const next = end < total_pages && { next_offset: end + 1 };
  const document = { total_pages, pages: pages.map((page) => ({ ...page })), ...next };
  return { status: 'succeeded', value: { path: relativePath(path), document, bytes, sha256 } };
}

const otherForms =
  'Read its text with a command, e.g. `pdftotext -layout IN.pdf -` or pypdf. To see a page, make it an image with `pdftoppm -r 80 -png -f 1 -l 1 IN.pdf page`, and read that.';
