import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import type { WorkspaceRecord } from '../run/workspace-record.ts';
import { openRepository, type Repository } from './repository.ts';

/** The git source of a run, for the rules and attributes it has; undefined for others, and when it is gone or out of bounds by now. */
export async function openOrigin(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  { origin, source }: WorkspaceRecord,
): Promise<Repository | undefined> {
  if (source.type !== 'git') return undefined;
  return openRepository(deps, { path: source.path, gitDir: origin ?? '', use: 'source' }).catch((error: unknown) => {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  });
}
