import { unquoted } from './forbidden-paths.ts';
import { compilePermissions } from './grants.ts';

/** Judges whether a run may read a path of a snapshot; undefined when the run may read every path. */
export function readablePaths(permissions: readonly string[] | undefined): ((path: string) => boolean) | undefined {
  const readable = compilePermissions(permissions)?.flatMap((one) => (one.kind === 'fs:read' ? [one.glob] : []));
  if (readable === undefined || readable.some(({ source }) => source === '**')) return undefined;
  return (path) => readable.some((glob) => glob.test({ path: unquoted(path), access: 'read' }) === 'yes');
}
