import { z } from 'zod';
import { touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { workspacePath } from './arguments.ts';

export const deleteFile = builtInTool({
  name: 'delete_file',
  description: `Deletes a file, a link (never its target) or a directory. A directory with content needs recursive. Returns {deleted}, the paths of everything that was deleted. A person is always asked first.
A list of more than 10,000 paths is cut, and total counts all of them.`,
  effect: 'workspace',
  risk: 'high',
  asks: true,
  input: z.strictObject({
    path: workspacePath.describe('What to delete, relative to the workspace root'),
    recursive: z.boolean().default(false).describe('Delete a directory with everything in it'),
  }),
  output: z.strictObject({
    deleted: z.array(z.string()),
    total: z.int().optional().describe('All deleted paths, when the list was cut'),
  }),
  touches: ({ path }) => touchedPaths('delete', path),
  async execute({ files, signal }, { path, recursive }) {
    const { removed, total } = await files.remove(path, { recursive }, signal);
    const isWhole = removed.length === total;
    const value = { deleted: removed, ...(!isWhole && { total }) };
    return { status: 'succeeded', value, ...(isWhole && { touched: removed }) };
  },
});
