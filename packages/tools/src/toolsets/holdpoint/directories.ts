import { z } from 'zod';
import { pathArgument, relativePath, touchedPaths } from '../../operations/touched.ts';
import { renderEntries, renderPaths } from '../../result-text/path-lists.ts';
import { builtInTool } from '../built-in-tool.ts';

export const listDirectory = builtInTool({
  name: 'list_directory',
  description: `Lists one directory of the workspace, hidden entries included, sorted by name.
A name that ends with / is a directory, with @ a symbolic link, with ? a pipe, socket or device; files have their bytes. To find files in a whole tree use glob.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    path: pathArgument.default('.').describe('Directory to list, relative to the workspace root'),
    limit: z.int().min(1).max(2000).default(500).describe('How many entries to return at most'),
  }),
  touches: ({ path }) => touchedPaths('read', path),
  render: renderEntries,
  async execute(context, { path, limit }) {
    const { entries: found, total } = await context.files.list(path, { limit }, context.signal);
    // Without times: a repeated call has the same result.
    const entries = found.map(({ name, type, bytes }) => ({ name, type, bytes }));
    const value = { path: relativePath(path), entries, total, truncated: entries.length < total };
    return { status: 'succeeded', value };
  },
});

const pattern = z.string().min(1).max(1000);

export const glob = builtInTool({
  name: 'glob',
  description: `Finds files by name, e.g. "**/*.ts" or "src/{a,b}/*.test.js". Paths are relative to the workspace root and sorted. Symbolic links are not followed. To search the contents of files use grep.`,
  effect: 'read',
  risk: 'low',
  input: z.strictObject({
    pattern: pattern.describe('Glob pattern, relative to path: *, **, ?, [a-z], {a,b}'),
    path: pathArgument.default('.').describe('Directory to search, relative to the workspace root'),
    ignore: z
      .array(pattern)
      .max(50)
      .default(['**/node_modules/**', '**/.git/**'])
      .describe('Patterns of paths to leave out; pass [] to leave out none'),
    include_hidden: z.boolean().default(false).describe('Include names that start with a dot'),
    type: z.enum(['file', 'directory', 'any']).default('file').describe('What to find'),
    limit: z.int().min(1).max(2000).default(500).describe('How many paths to return at most'),
  }),
  touches: ({ path }) => touchedPaths('read', path),
  render: renderPaths,
  async execute(context, { pattern, path, ignore, include_hidden, type, limit }) {
    const query = { cwd: path, patterns: [pattern], ignore, dot: include_hidden, type, limit };
    const { paths, total, truncated } = await context.files.glob(query, context.signal);
    return { status: 'succeeded', value: { paths, total, truncated } };
  },
});
