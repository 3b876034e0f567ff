import type { GlobQuery, PathFacts } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import { relativePath } from './touched.ts';

export interface FileQuery extends Omit<GlobQuery, 'cwd' | 'facts' | 'patterns'> {
  pattern: string;
  /** Where the pattern begins. @default '.' */
  directory?: string;
}

export interface FoundFiles {
  /** Paths relative to the workspace root. */
  files: PathFacts[];
  total: number;
  truncated: boolean;
}

/** Files whose path matches a glob. No match is an empty result. Throws `FileError`, EGLOBINVALID for a bad pattern. */
export async function findFiles(
  { files, signal }: ToolContext,
  { pattern, directory = '.', ...query }: FileQuery,
): Promise<FoundFiles> {
  const found = await files.glob(
    { ignore: ['**/.git/**'], ...query, cwd: relativePath(directory), patterns: [pattern], facts: true },
    signal,
  );
  return { files: found.facts ?? [], total: found.total, truncated: found.truncated };
}
