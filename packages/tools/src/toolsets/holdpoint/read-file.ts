import type { ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolContext } from '../../tool.ts';
import { failure } from './failure.ts';
import { pathArgument, relativePath } from './path-argument.ts';
import { readTextFile, type TextFile } from './read-text.ts';

const input = z.strictObject({
  path: pathArgument.describe('File to read, relative to the workspace root'),
  offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line to return, counted from 1'),
  limit: z.int().min(1).max(10_000).default(2000).describe('How many lines to return at most'),
});

export const readFile = defineTool({
  name: 'read_file',
  description: `Reads a text file of the workspace.
Returns {path, content, start_line, line_count, total_lines, bytes, sha256, line_endings, final_newline, truncated}. content is the exact text without line numbers, so that parts of it can be passed to edit as they are. When truncated is true, go on with offset = next_offset. At most 64 KiB come back at once; a single longer line is cut and cut_line names it. bom: a byte order mark was left out of content. lossy: bytes that are not UTF-8 are shown as U+FFFD.
Read a file before you edit it. For a search over many files use grep.`,
  effect: 'read',
  risk: 'low',
  input,
  async execute(context, args) {
    const read = await readTextFile(context, args.path);
    return read.ok ? excerpt(context, read.file, args) : read.failure;
  },
});

async function excerpt(
  { text }: ToolContext,
  { data, sha256 }: TextFile,
  { path, offset, limit }: z.output<typeof input>,
): Promise<ToolOutcome> {
  // The thread may take the data away.
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
