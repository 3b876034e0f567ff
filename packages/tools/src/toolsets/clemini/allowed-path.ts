import { type Failure, failure } from '../../operations/cut-short.ts';
import { relativePath } from '../../operations/touched.ts';
import type { ToolContext } from '../../tool.ts';
import { settingsOf } from './settings.ts';

/** Directories of tools and builds, left out of searches. */
export const unsearchedFolders = ['.git', 'node_modules', 'target', '__pycache__', '.venv'] as const;

/**
 * Where a path of the arguments really leads, or the refusal of a path outside of the allowed paths. Throws the errors of `files.resolve`.
 */
export async function allowedPath(
  { files, settings, signal }: ToolContext,
  path: string,
): Promise<{ ok: true; real: string } | { ok: false; failure: Failure }> {
  // The root is no link, and needs no look.
  const real = relativePath(path) === '.' ? '.' : await files.resolve(path, signal);
  const { allowed_paths } = settingsOf(settings);
  if (allowed_paths.some((allowed) => isWithin(real, relativePath(allowed)))) return { ok: true, real };
  const message = `Access denied: ${path} is outside allowed paths.`;
  const refused = failure('EPATHNOTALLOWED', message, `Stay in ${allowed_paths.join(', ')}.`);
  return { ok: false, failure: { ...refused, touched: [] } };
}

const isWithin = (path: string, directory: string): boolean =>
  directory === '.' || path === directory || path.startsWith(`${directory}/`);
