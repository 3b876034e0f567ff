import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import type { ToolOutcome } from '../../tool.ts';
import { failure } from './failure.ts';
import { pathArgument, relativePath } from './path-argument.ts';
import { readTextFile, type TextFile } from './read-text.ts';
import { cutText, decodeText, lineEndings, splitLines } from './text.ts';

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
    return read.ok ? excerpt(read.file, args) : read.failure;
  },
});

/** UTF-8 bytes of content returned at once. */
const MAX_CONTENT = 64 * 1024;

function excerpt({ data, sha256 }: TextFile, { path, offset, limit }: z.output<typeof input>): ToolOutcome {
  const { text, bom, lossy } = decodeText(data);
  const lines = splitLines(text);
  if (offset > Math.max(lines.length, 1)) {
    return failure(
      'ERANGE',
      `${path} has ${lines.length} lines; line ${offset} is past its end.`,
      'Choose a smaller offset.',
      {
        total_lines: lines.length,
      },
    );
  }
  const start = offset - 1;
  const fitting = fit(lines.slice(start, start + limit));
  const end = start + fitting.count;
  return {
    status: 'succeeded',
    value: {
      path: relativePath(path),
      content: fitting.content,
      start_line: offset,
      line_count: fitting.count,
      total_lines: lines.length,
      bytes: data.length,
      sha256,
      line_endings: lineEndings(text),
      final_newline: text.endsWith('\n'),
      truncated: fitting.cut || end < lines.length,
      ...(end < lines.length && { next_offset: end + 1 }),
      ...(fitting.cut && { cut_line: offset }),
      ...(bom && { bom }),
      ...(lossy && { lossy }),
    },
  };
}

function fit(lines: readonly string[]): { content: string; count: number; cut: boolean } {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line);
    if (bytes > MAX_CONTENT) break;
    count += 1;
  }
  const [first] = lines;
  if (count === 0 && first !== undefined) return { content: cutText(first, MAX_CONTENT), count: 1, cut: true };
  return { content: lines.slice(0, count).join(''), count, cut: false };
}
