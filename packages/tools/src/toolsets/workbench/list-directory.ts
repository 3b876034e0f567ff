import { z } from 'zod';
import { touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { workspacePath } from './arguments.ts';

export const listDirectory = builtInTool({
  name: 'list_directory',
  description: `Lists a directory of the workspace, sorted by name. Returns {entries: [{name, type, size, modified}]}; type is file, directory or symlink. A recursive list goes into directories, and name is then the path below the listed directory. Links are listed and never followed. Hidden entries begin with a dot.
A list of more than 10,000 entries is cut, and total counts all of them.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    path: workspacePath.describe('Directory to list, relative to the workspace root'),
    recursive: z.boolean().default(false).describe('Also list what is below its directories'),
    includeHidden: z.boolean().default(false).describe('Also list names that begin with a dot, and what is below them'),
  }),
  output: z.strictObject({
    entries: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(['file', 'directory', 'symlink']),
        size: z.int().describe('Bytes'),
        modified: z.iso.datetime(),
      }),
    ),
    total: z.int().optional().describe('All entries, when the list was cut'),
  }),
  touches: ({ path }) => touchedPaths('read', path),
  async execute({ files, signal }, { path, recursive, includeHidden }) {
    const listed = await files.list(path, { recursive, hidden: includeHidden }, signal);
    const isRoot = includeHidden && (await files.resolve(path, signal)) === '.';
    // The repository of the workspace is not from the source.
    const entries = listed.entries.filter(({ name }) => !isRoot || !/^\.git(\/|$)/.test(name));
    const total = listed.total - (listed.entries.length - entries.length);
    const shown = entries.map(({ name, type, bytes, mtime_ms }) => ({
      name,
      // A pipe, a socket or a device: the contract has no word for them.
      type: type === 'other' ? 'file' : type,
      size: bytes,
      modified: new Date(mtime_ms).toISOString(),
    }));
    const value = { entries: shown, ...(shown.length < total && { total }) };
    return { status: 'succeeded', value };
  },
});
