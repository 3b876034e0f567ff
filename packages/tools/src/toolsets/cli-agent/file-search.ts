import { z } from 'zod';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { success } from './run-in-terminal.ts';

const mostShown = 1000;
const deepest = 20;

export const fileSearch = builtInTool({
  name: 'file_search',
  description: 'Find files by a glob pattern. `*` and `?` stay within a directory, `**` does not.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({
    pattern: z.string().min(1).max(1000).describe('Glob pattern, such as **/*.go, relative to base_path'),
    base_path: pathArgument.default('.').describe('Relative path to the directory to search'),
  }),
  touches: ({ base_path }) => touchedPaths('read', base_path),
  async execute(context, { pattern, base_path }) {
    const { paths, total } = await context.files.glob(
      {
        cwd: base_path,
        patterns: [pattern],
        ignore: ['**/.git/**'],
        dot: true,
        type: 'file',
        limit: mostShown,
        depth: deepest,
      },
      context.signal,
    );
    const warning = total > paths.length ? [`Warning: Found ${total} matches, showing first ${paths.length}`] : [];
    const head = `Found ${total} files matching '${pattern}'${paths.length === 0 ? '' : ':'}`;
    return success(
      {
        output: [head, ...paths.map((path) => `  ${path}`), ...warning].join('\n'),
        files_affected: [],
        metadata: { matches: total, pattern, ...(total > paths.length && { truncated: true }) },
      },
      [],
    );
  },
});
