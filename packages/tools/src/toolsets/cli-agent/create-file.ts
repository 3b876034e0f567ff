import { z } from 'zod';
import { changedPaths, pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { previewWrite } from '../../operations/write-file.ts';
import { textArgument } from '../../text-work/text.ts';
import { builtInTool } from '../built-in-tool.ts';
import { refused } from './run-in-terminal.ts';

const maxBytes = 10 * 1024 * 1024;

export const createFile = builtInTool({
  name: 'create_file',
  description:
    'Create a new file with the given content. Missing parent directories are created. Fails if the file exists.',
  effect: 'workspace',
  risk: 'medium',
  label: 'safe_write',
  asks: true,
  input: z.strictObject({
    path: pathArgument.describe('Relative path to the file to create'),
    content: textArgument.describe('Content to write to the file'),
  }),
  touches: ({ path }) => touchedPaths('write', path),
  async execute(context, { path, content }) {
    const data = Buffer.from(content);
    if (data.length > maxBytes) {
      const message = `Content too large (${data.length} bytes, the limit is ${maxBytes} bytes)`;
      return { ...refused('EFBIG', message, 'Write the content in several files.'), touched: [] };
    }
    const written = await context.files.write(path, data, { expect: { exists: false } }, context.signal);
    const value = { output: `Created file: ${path} (${written.bytes} bytes)`, files_affected: [relativePath(path)] };
    return { status: 'succeeded', value, ...changedPaths(path, written) };
  },
  preview: (context, args) => previewWrite(context, { ...args, create_only: true }),
});
