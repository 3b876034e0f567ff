import type { ToolContext } from '../tool.ts';
import { relativePath } from './path-argument.ts';

/**
 * What a write to `path` has changed, for `ToolOutcome.touched`. Without the field where a link or `..` makes the changed file another
 * than the one named: the snapshot then walks the tree.
 */
export async function changedPaths(context: ToolContext, path: string): Promise<{ touched?: readonly string[] }> {
  const relative = relativePath(path);
  if (relative.startsWith('/') || relative.split('/').includes('..')) return {};
  // stat follows links; a glob does not, and so finds the path only where every part of it is what it seems.
  const pattern = relative.replaceAll(globSyntax, '\\$&');
  const { paths } = await context.files.glob({ patterns: [pattern] }, context.signal);
  return paths.length === 1 && paths[0] === relative ? { touched: [relative] } : {};
}

const globSyntax = /[$^*+?()[\]{}|!@\\]/g;
