import type { ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import type { TextFile } from './read-text.ts';
import { relativePath } from './touched.ts';

export interface LineRange {
  path: string;
  /** First line, counted from 1. */
  offset: number;
  /** Lines at most. */
  limit: number;
}

/** Lines of a text file, with the size, hash and line endings of the file. */
export async function excerpt(
  { text }: ToolContext,
  { data, sha256 }: TextFile,
  { path, offset, limit }: LineRange,
): Promise<ToolOutcome> {
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
