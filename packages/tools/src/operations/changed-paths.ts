import type { ToolContext } from '../tool.ts';
import { relativePath } from './path-argument.ts';

/**
 * The paths that a write to `path` changed, for `ToolOutcome.touched`. Leaves the field out when a link or `..` leads to another file:
 * the snapshot then walks the tree.
 */
export async function changedPaths(context: ToolContext, path: string): Promise<{ touched?: readonly string[] }> {
  const relative = relativePath(path);
  if (relative.startsWith('/') || relative.split('/').includes('..')) return {};
  // stat follows links. A glob does not, so it finds the path only when no part of it is a link.
  const pattern = relative.replaceAll(globSyntax, '\\$&');
  const { paths } = await context.files.glob({ patterns: [pattern] }, context.signal);
  return paths.length === 1 && paths[0] === relative ? { touched: [relative] } : {};
}

const globSyntax = /[$^*+?()[\]{}|!@\\]/g;
