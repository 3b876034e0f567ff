import type { ToolContext } from '../../tool.ts';
import { relativePath } from './path-argument.ts';

/**
 * What a write to `path` changed, for `ToolOutcome.touched`. Empty of knowledge (no field) where a link or `..` makes the changed
 * file another than the one named: the snapshot then walks the tree.
 */
export async function changedPaths(context: ToolContext, path: string): Promise<{ touched?: readonly string[] }> {
  const relative = relativePath(path);
  const parts = relative.split('/');
  if (relative.startsWith('/') || parts.includes('..')) return {};
  for (let length = 1; length <= parts.length; length++) {
    const { type } = await context.files.stat(parts.slice(0, length).join('/'), context.signal);
    if (type === 'symlink') return {};
  }
  return { touched: [relative] };
}
