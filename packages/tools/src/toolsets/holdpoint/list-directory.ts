import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { pathArgument, relativePath } from '../../operations/path-argument.ts';

export const listDirectory = defineTool({
  name: 'list_directory',
  description: `Lists one directory of the workspace, hidden entries included, sorted by name.
Returns {path, entries: [{name, type, bytes}], total, truncated}; type is file, directory, symlink or other. To find files in a whole tree use glob.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    path: pathArgument.default('.').describe('Directory to list, relative to the workspace root'),
    limit: z.int().min(1).max(2000).default(500).describe('How many entries to return at most'),
  }),
  async execute(context, { path, limit }) {
    const { entries, total } = await context.files.list(path, { limit }, context.signal);
    const value = { path: relativePath(path), entries, total, truncated: entries.length < total };
    return { status: 'succeeded', value };
  },
});
