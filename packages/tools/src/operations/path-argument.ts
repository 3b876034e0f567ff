import { z } from 'zod';

/** A path as an argument. Whether it lies in the workspace is decided where it is opened, inside the sandbox. */
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL byte');

/** How a path is shown in results: relative to the workspace root. `..` is left as it is, since what it means depends on links. */
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
