import { z } from 'zod';

const isInside = (path: string): boolean =>
  !path.includes('\0') && !path.startsWith('/') && !path.split('/').includes('..');

/** A path in a workspace. */
export const pathParameter = z
  .string()
  .min(1)
  .max(4096)
  .refine(isInside, 'expected a path relative to the workspace, without ".." in it');
