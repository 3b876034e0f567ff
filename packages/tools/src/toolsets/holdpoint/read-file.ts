import { z } from 'zod';
import { readContent } from '../../operations/read-content.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderContent } from '../../result-text/file-content.ts';
import { builtInTool } from '../built-in-tool.ts';

const input = z.strictObject({
  path: pathArgument.describe('File to read, relative to the workspace root'),
  offset: z.int().min(1).max(1_000_000_000).default(1).describe('First line to return, counted from 1'),
  limit: z.int().min(1).max(10_000).default(2000).describe('How many lines to return at most'),
});

export const readFile = builtInTool({
  name: 'read_file',
  description: `Reads a file of the workspace: text, an image (PNG, JPEG, WebP, GIF), which you then see, a Jupyter notebook, where offset and limit count cells, or a PDF, where they count pages.
Each line comes with its number and a tab before it; edit takes the text without them. When the first line of the result says so, continue with the named offset. One result has at most 16 KiB of whole lines; a line of more than 64 KiB is cut.
Read a file before you edit it. For a search over many files use grep.`,
  effect: 'read',
  risk: 'low',
  input,
  touches: ({ path }) => touchedPaths('read', path),
  render: renderContent,
  execute: readContent,
});
