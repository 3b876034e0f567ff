import { z } from 'zod';
import { failure } from '../../operations/cut-short.ts';
import { findFiles } from '../../operations/find-files.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { builtInTool } from '../built-in-tool.ts';
import { allowedPath, unsearchedFolders } from './bash.ts';

/** Most paths of an answer, about 500 KB. `offset` reaches the paths behind. */
const mostListed = 10_000;
const orders = { name: 'path', modified: 'newest', size: 'largest' } as const;

export const glob = builtInTool({
  name: 'glob',
  description: `Find files by a glob pattern, such as **/*.rs. Hidden files are found; ${unsearchedFolders.join(', ')} are left out. No match is an empty list. Returns: {matches, count, total_found, truncated}`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    pattern: z
      .string()
      .min(1)
      .max(1000)
      .refine((pattern) => !pattern.includes('\0'), 'has a NUL byte')
      .describe('Glob pattern, relative to directory'),
    directory: pathArgument.default('.').describe('Directory to search (default: the current directory)'),
    sort: z
      .enum(['name', 'modified', 'size'])
      .default('name')
      .describe('name, modified (newest first) or size (largest first) (default: name)'),
    head_limit: z
      .int()
      .min(0)
      .max(mostListed)
      .optional()
      .describe('Number of matches to return (default: all that fit)'),
    offset: z.int().min(0).default(0).describe('Number of matches to skip (default: 0)'),
  }),
  output: z.strictObject({
    matches: z.array(z.string()).describe('Relative to the current directory'),
    count: z.int(),
    total_found: z.int(),
    truncated: z.boolean(),
  }),
  touches: ({ directory }) => touchedPaths('read', directory),
  async execute(context, { pattern, directory, sort, head_limit = mostListed, offset }) {
    if (climbs.test(pattern)) {
      return failure('EGLOBINVALID', `The pattern ${pattern} leaves the directory.`, 'Name the directory to search.');
    }
    const allowed = await allowedPath(context, directory);
    if (!allowed.ok) return allowed.failure;
    const found = await findFiles(context, {
      pattern,
      directory: allowed.real,
      ignore: unsearchedFolders.map((name) => `**/${name}/**`),
      dot: true,
      sort: orders[sort],
      ...{ offset, limit: head_limit },
    });
    const matches = found.files.map(({ path }) => path);
    const value = { matches, count: matches.length, total_found: found.total };
    return { status: 'succeeded', value: { ...value, truncated: offset + matches.length < found.total } };
  },
});

/** A path segment `..`, also in braces. */
const climbs = /(^|[/{,(|])\.\.($|[/},)|])/;
