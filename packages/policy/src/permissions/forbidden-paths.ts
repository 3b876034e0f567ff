import { any } from '../match/truth.ts';
import { compilePermissions, type WrittenGrants } from './grants.ts';
import { compileProtected } from './permits.ts';

/**
 * Judges a really changed path against the run's permissions; undefined when the run may change every path. Paths are written as in a diff:
 * relative to the workspace, and quoted as in git when outside of UTF-8.
 */
export function forbiddenPaths({
  permissions,
  protected: globs,
}: WrittenGrants): ((path: string) => boolean) | undefined {
  if (permissions === undefined && globs.length === 0) return undefined;
  const kept = compileProtected(globs);
  const writable = compilePermissions(permissions)?.flatMap((one) => (one.kind === 'fs:write' ? [one.glob] : []));
  return (path) => {
    const touched = { path: unquoted(path), access: 'write' as const };
    if (any(kept, (glob) => glob.test(touched)) !== 'no') return true;
    if (writable === undefined) return false;
    // A folder changes when an entry is made inside, so a permission for all content of a folder covers the folder.
    const folder = { ...touched, recursive: true };
    return !writable.some((glob) => glob.test(touched) === 'yes' || glob.test(folder) === 'yes');
  };
}

/** Globs judge the readable part of a name: each byte outside of UTF-8 counts as a character. */
export function unquoted(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"') || path.length < 2) return path;
  return path.slice(1, -1).replace(/\\(\d{3}|.)/g, (_, escaped: string) => {
    return escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped;
  });
}
