import type { Written } from '@holdpoint/contract';
import { relativePath } from './path-argument.ts';

/**
 * The path changed by a write to `path`, for `ToolOutcome.touched`. Leaves the field out when a link or `..` led to another file: the
 * snapshot then walks the tree.
 */
export function changedPaths(path: string, written: Pick<Written, 'path'>): { touched?: readonly string[] } {
  const relative = relativePath(path);
  return relative === written.path ? { touched: [relative] } : {};
}
