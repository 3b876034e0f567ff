import { isUtf8 } from 'node:buffer';
import { imageTypeOf, type ToolOutcome } from '@holdpoint/contract';
import { isBinary, maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { readImage } from './read-image.ts';
import { excerpt, type LineRange } from './read-lines.ts';
import { readNotebookCells } from './read-notebook.ts';
import { readPdf } from './read-pdf.ts';
import { asText } from './read-text.ts';

/** Reads a file as what its bytes are, whatever its name says. Text is read by lines, an image whole. */
export async function readContent(context: ToolContext, range: LineRange): Promise<ToolOutcome> {
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
const isImage = (data: Buffer): boolean => imageTypeOf(data) !== undefined && (isBinary(data) || !isUtf8(data));
