import { z } from 'zod';
import { pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { success } from './run-in-terminal.ts';

export const createDirectory = builtInTool({
  name: 'create_directory',
  description: 'Create a directory with its missing parents. A directory that exists is a success.',
  effect: 'workspace',
  risk: 'medium',
  label: 'safe_write',
  asks: true,
  input: z.strictObject({ path: pathArgument.describe('Relative path to the directory to create') }),
  touches: ({ path }) => touchedPaths('write', path),
  async execute(context, { path }) {
    const { created } = await context.files.makeDirectory(path, context.signal);
    const value = {
      output: `Created directory: ${path}`,
      files_affected: created.length === 0 ? [] : [relativePath(path)],
      metadata: { created_parents: created.slice(0, -1) },
    };
    return success(value, created);
  },
});
