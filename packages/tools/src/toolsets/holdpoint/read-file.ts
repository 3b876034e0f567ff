import { z } from 'zod';
import { pathArgument } from '../../operations/path-argument.ts';
import { readLines } from '../../operations/read-lines.ts';
import { touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';

const input = z.strictObject({
  path: pathArgument.describe('File to read, relative to the workspace root'),
  offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line to return, counted from 1'),
  limit: z.int().min(1).max(10_000).default(2000).describe('How many lines to return at most'),
});

export const readFile = builtInTool({
  name: 'read_file',
  description: `Reads a text file of the workspace.
Returns {path, content, start_line, line_count, total_lines, bytes, sha256, line_endings, final_newline, truncated}. content is the exact text without line numbers, so parts of it can be passed to edit as they are. When truncated is true, continue with offset = next_offset. One result has at most 64 KiB; a longer line is cut and cut_line names it. bom: content leaves out a byte order mark. lossy: bytes that are not UTF-8 become U+FFFD.
Read a file before you edit it. For a search over many files use grep.`,
  effect: 'read',
  risk: 'low',
  input,
  touches: ({ path }) => touchedPaths('read', path),
  execute: readLines,
});
