import type { DirectoryList, ListOptions } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';

/** The entries of a directory in byte order, with totals by type. Throws `FileError`. */
export function listDirectory(
  { files, signal }: ToolContext,
  { path, ...options }: ListOptions & { path: string },
): Promise<DirectoryList> {
  return files.list(path, options, signal);
}
