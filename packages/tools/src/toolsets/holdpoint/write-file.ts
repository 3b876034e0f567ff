import { z } from 'zod';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { previewWrite, writeWholeFile } from '../../operations/write-file.ts';
import { renderWrite } from '../../result-text/changed-file.ts';
import { textArgument } from '../../text-work/text.ts';
import { builtInTool } from '../built-in-tool.ts';

/** A character becomes at most three bytes of UTF-8. */
const maxChars = 3_000_000;

const input = z.strictObject({
  path: pathArgument.describe('File to write, relative to the workspace root; missing directories are created'),
  content: textArgument.max(maxChars).describe('The whole new content, written exactly as given'),
  create_only: z
    .boolean()
    .default(false)
    .describe('Fail with EEXIST when the file already exists, instead of replacing it'),
});

export const writeFile = builtInTool({
  name: 'write_file',
  description: `Creates a file or replaces its whole content.
To change a part of an existing file use edit: it is safer and shorter. Set create_only when the file is meant to be new.`,
  effect: 'workspace',
  risk: 'medium',
  input,
  touches: ({ path }) => touchedPaths('write', path),
  render: renderWrite,
  execute: writeWholeFile,
  preview: previewWrite,
});
