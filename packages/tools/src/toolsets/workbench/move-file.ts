import { FileError } from '@holdpoint/contract';
import { z } from 'zod';
import { relativePath, touchedPaths } from '../../operations/touched.ts';
import type { LookContext } from '../../tool.ts';
import { builtInTool } from '../built-in-tool.ts';
import { workspacePath } from './arguments.ts';

export const moveFile = builtInTool({
  name: 'move_file',
  description: `Moves or renames a file, a link (never its target) or a directory. Returns {from, to}. The directory of the target must exist. An existing target is refused, unless overwrite is set; then a person is asked first.`,
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    from: workspacePath.describe('What to move, relative to the workspace root'),
    to: workspacePath.describe('Its new path, relative to the workspace root'),
    overwrite: z.boolean().default(false).describe('Replace a file at the new path'),
  }),
  output: z.strictObject({ from: z.string(), to: z.string() }),
  touches: ({ from, to }) => touchedPaths('write', from, to),
  mayAsk: ({ overwrite }) => overwrite,
  async asks(context, { from, to, overwrite }) {
    if (!overwrite || !(await exists(context, from)) || !(await exists(context, to))) return undefined;
    return `${relativePath(to)} exists and would be replaced`;
  },
  async execute({ files, approved, signal }, { from, to, overwrite }) {
    // No person saw a target made after the look.
    await files.move(from, to, { replace: overwrite && approved === true }, signal);
    return { status: 'succeeded', value: { from: relativePath(from), to: relativePath(to) } };
  },
});

async function exists({ files, signal }: LookContext, path: string): Promise<boolean> {
  try {
    await files.stat(path, { follow: false }, signal);
    return true;
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') return false;
    throw error;
  }
}
