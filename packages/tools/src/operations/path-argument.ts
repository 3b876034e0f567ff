import { z } from 'zod';
import type { ToolContext } from '../tool.ts';

/** A path as an argument. The sandbox decides at the open whether it lies in the workspace. */
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL byte');

/** The path in results: relative to the workspace root. `..` stays as it is, because its target depends on links. */
export function relativePath(path: string): string {
  const inside = path === root || path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  if (inside.startsWith('/')) return inside;
  return (
    inside
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/') || '.'
  );
}

const root = '/workspace';

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
