import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import { isBinary, maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import { asText, type TextFile } from './read-text.ts';
import { relativePath } from './touched.ts';

/**
 * The text of pages, and the pages themselves for a model that reads PDFs; offset and limit count pages. No pictures of pages are made: where
 * there is neither a text nor a file, the error names the command for them.
 */
async function readPdf(
  { pages: read }: ToolContext,
  { path, offset, limit }: LineRange,
  { data, bytes, sha256 }: contract.FileContent,
): Promise<contract.ToolOutcome> {
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

const keptPdf = ({ data, pages }: { data: Buffer; pages: number }): contract.KeptPdf => ({
  ...{ media_type: 'application/pdf', pages, bytes: data.length },
  sha256: createHash('sha256').update(data).digest('hex'),
});

const otherForms =
  'Read its text with a command, e.g. `pdftotext -layout IN.pdf -` or pypdf. To see a page, make it an image with `pdftoppm -r 80 -png -f 1 -l 1 IN.pdf page`, and read that.';

/** An image of the workspace, by its digest. Its bytes are kept beside the log; no pixel is decoded. */
function readImage(path: string, { data, bytes, sha256 }: contract.FileContent): contract.ToolOutcome {
  if (bytes > contract.imageBounds.bytes || sha256 === null) {
    return failure(
      'EIMAGETOOLARGE',
      `${path} is an image of ${bytes} bytes; images of more than ${contract.imageBounds.bytes} bytes are not shown.`,
      smaller,
      { bytes },
    );
  }
  const facts = contract.readImageFacts(data);
  if (facts === undefined) {
    const next = 'Make it again, or look into it with bash, e.g. file or xxd.';
    return failure('EIMAGEBROKEN', `${path} begins like an image, and is broken or cut off.`, next, { bytes, sha256 });
  }
  const { width, height } = facts;
  if (Math.max(width, height) > contract.imageBounds.side) {
    const said = `${path} has ${width}x${height} pixels; images of more than ${contract.imageBounds.side} a side are not shown.`;
    return failure('EIMAGETOOLARGE', said, smaller, { bytes, sha256, width, height });
  }
  const image: contract.KeptImage = { ...facts, bytes, sha256 };
  return { status: 'succeeded', value: { path: relativePath(path), image }, contents: [data] };
}

const smaller =
  'Make a smaller copy with a command, e.g. `convert IN -resize 1500x1500 OUT.png` (ImageMagick), `ffmpeg -i IN -vf scale=1500:-1 OUT.png` or Pillow, and read the copy.';

/** Reads a file as what its bytes are, whatever its name says. Text is read by lines, an image whole. */
export async function readContent(context: ToolContext, range: LineRange): Promise<contract.ToolOutcome> {
  const { path } = range;
  const read = await context.files.read(path, { max_bytes: maxTextFile }, context.signal);
  if (isImage(read.data)) return readImage(path, read);
  if (isPdf(read.data)) return readPdf(context, range, read);
  const text = asText(path, read);
  if (!text.ok) return text.failure;
  const notebook = path.endsWith('.ipynb') ? await readNotebookCells(context, text.file, range) : undefined;
  return notebook ?? (await excerpt(context, text.file, range));
}

const isPdf = (data: Buffer): boolean => data.subarray(0, 5).toString('latin1') === '%PDF-';

/** A text may begin with `GIF89a`, and stays a text. */
const isImage = (data: Buffer): boolean =>
  contract.imageTypeOf(data) !== undefined && (isBinary(data) || !isUtf8(data));

/** Cells of a notebook; undefined when the file is none, whatever its name. */
async function readNotebookCells(
  { text }: ToolContext,
  { data, sha256 }: TextFile,
  { path, offset, limit }: LineRange,
): Promise<contract.ToolOutcome | undefined> {
  const bytes = data.length;
  // A copy: a thread takes the buffer along, and the file may have to be read as text.
  const found = await text.run('notebook', { data: Buffer.from(data), offset, limit });
  if (found === undefined) return undefined;
  if (found.past) {
    const said = `${path} has ${found.total_cells} cells; cell ${offset} is past its end.`;
    return failure('ERANGE', said, 'Choose a smaller offset.', { total_cells: found.total_cells });
  }
  const { past: _, pictures, ...notebook } = found;
  const end = offset - 1 + notebook.cells.length;
  const next = end < notebook.total_cells && { next_offset: end + 1 };
  const contents = pictures.map((one) => Buffer.from(one.data.buffer, one.data.byteOffset, one.data.byteLength));
  const images = contents.flatMap(keptImage);
  return {
    status: 'succeeded',
    value: {
      path: relativePath(path),
      notebook: { ...notebook, ...next, ...(images.length > 0 && { images }) },
      bytes,
      sha256,
    },
    ...(images.length > 0 && { contents }),
  };
}

/** The thread has looked at the bytes before. */
function keptImage(data: Buffer): contract.KeptImage[] {
  const facts = contract.readImageFacts(data);
  if (facts === undefined) return [];
  return [{ ...facts, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') }];
}

export interface LineRange {
  path: string;
  /** First line, counted from 1. */
  offset: number;
  /** Lines at most. */
  limit: number;
}

/** Lines of a text file, with the size, hash and line endings of the file. */
async function excerpt(
  { text }: ToolContext,
  { data, sha256 }: TextFile,
  { path, offset, limit }: LineRange,
): Promise<contract.ToolOutcome> {
  // Read before the thread may take the buffer.
  const bytes = data.length;
  const found = await text.run('excerpt', { data, offset, limit });
  if (found.past) {
    return failure(
      'ERANGE',
      `${path} has ${found.total_lines} lines; line ${offset} is past its end.`,
      'Choose a smaller offset.',
      { total_lines: found.total_lines },
    );
  }
  const { past: _, cut, bom, lossy, ...excerpt } = found;
  const end = offset - 1 + found.line_count;
  return {
    status: 'succeeded',
    value: {
      path: relativePath(path),
      start_line: offset,
      ...excerpt,
      bytes,
      sha256,
      ...(end < found.total_lines && { next_offset: end + 1 }),
      ...(cut && { cut_line: offset }),
      ...(bom && { bom }),
      ...(lossy && { lossy }),
    },
  };
}
