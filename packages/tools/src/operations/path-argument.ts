import { z } from 'zod';

/** A path as an argument. The sandbox decides at the open whether the path lies in the workspace. */
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL byte');

/** The path in results: relative to the workspace root. `..` is kept, because its target depends on links. */
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
