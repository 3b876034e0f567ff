import { join } from 'node:path';
import { isWithin, type OpenPath } from '../../bounds/bounds.ts';
import { type Deps, errnoOf, WorkspaceError, type WorkspaceRecord } from '../../deps.ts';
import { toText } from '../../files/index.ts';
import type { Change } from '../../store/objects/index.ts';

/** Opens and checks the source directory; undefined for a lost directory. All reads and writes of a publish go through this descriptor. */
export function openTarget(deps: Pick<Deps, 'bounds'>, { origin }: WorkspaceRecord): OpenPath | undefined {
  try {
    return deps.bounds.open(origin ?? '', 'publish');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A source may contain the data directory. The run's copy lacks the data directory, and a publish must not write inside. */
export function assertOutsideData(
  { dataDir }: Pick<Deps, 'dataDir'>,
  target: OpenPath,
  changes: readonly Pick<Change, 'path'>[],
): void {
  const inside = changes.find(({ path }) => isWithin(join(target.real, toText(path)), dataDir));
  if (inside === undefined) return;
  throw new WorkspaceError('EPUBLISHFORBIDDEN', `${toText(inside.path)} would be written into the data directory.`);
}
