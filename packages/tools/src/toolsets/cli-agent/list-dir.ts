import { z } from 'zod';
import { pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { success } from './run-in-terminal.ts';

const mostShown = 1000;

export const listDir = builtInTool({
  name: 'list_dir',
  description: 'List the entries of a directory. Directories end in "/".',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({ path: pathArgument.default('.').describe('Relative path to the directory to list') }),
  touches: ({ path }) => touchedPaths('read', path),
  async execute(context, { path }) {
    const isRoot = (await context.files.resolve(path, context.signal)) === '.';
    const listed = await context.files.list(path, { limit: mostShown + 1 }, context.signal);
    // The repository of the workspace is not from the source.
    const own = listed.entries.filter(({ name }) => isRoot && name === '.git');
    const shown = listed.entries.filter((entry) => !own.includes(entry)).slice(0, mostShown);
    const total = listed.total - own.length;
    const directories = listed.totals.directory - own.filter(({ type }) => type === 'directory').length;
    const names = shown.map(({ name, type }) => `  ${name}${type === 'directory' ? '/' : ''}`);
    const relative = relativePath(path);
    const warning = total > shown.length ? [`Warning: Found ${total} entries, showing first ${shown.length}`] : [];
    return success(
      {
        output: [`Contents of ./${relative === '.' ? '' : relative}:`, ...names, ...warning].join('\n'),
        files_affected: [],
        metadata: {
          total_entries: total,
          files: total - directories,
          directories,
          ...(total > shown.length && { truncated: true }),
        },
      },
      [],
    );
  },
});
