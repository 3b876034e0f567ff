import type { Removal } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';

/**
 * Removes a file, a link or a directory. `touched` is absent for a directory with content, because the content may include a repository:
 * the snapshot then walks the tree. Throws `FileError`.
 */
export async function removePath(
  { files, signal }: ToolContext,
  { path, recursive }: { path: string; recursive: boolean },
): Promise<Removal & { touched?: readonly string[] }> {
  const removal = await files.remove(path, { recursive }, signal);
  return { ...removal, ...(removal.total === 1 && { touched: removal.removed }) };
}
