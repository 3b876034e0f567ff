import { createHash } from 'node:crypto';
import { type KeptImage, readImageFacts, type ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import type { LineRange } from './read-lines.ts';
import type { TextFile } from './read-text.ts';
import { relativePath } from './touched.ts';

/** Cells of a notebook; undefined when the file is none, whatever its name. */
export async function readNotebookCells(
  { text }: ToolContext,
  { data, sha256 }: TextFile,
  { path, offset, limit }: LineRange,
): Promise<ToolOutcome | undefined> {
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
function keptImage(data: Buffer): KeptImage[] {
  const facts = readImageFacts(data);
  if (facts === undefined) return [];
  return [{ ...facts, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') }];
}
