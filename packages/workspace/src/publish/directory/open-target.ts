import { join } from 'node:path';
import type { OpenPath } from '../../bounds/bounds.ts';
import { isWithin } from '../../bounds/path-rules.ts';
import type { Deps } from '../../deps.ts';
import { errnoOf, WorkspaceError } from '../../errors.ts';
import { toText } from '../../files/path-name.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';
import type { Change } from '../../tree/tree.ts';

/** The source directory, checked as it was opened: all reads and writes of a publish go below this descriptor. Undefined when it is gone. */
export function openTarget(deps: Pick<Deps, 'bounds'>, { origin }: WorkspaceRecord): OpenPath | undefined {
  try {
    return deps.bounds.open(origin ?? '', 'publish');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** A source may contain the data directory, which a run does not get: so it cannot bring anything there either. */
export function assertOutsideData(
  { dataDir }: Pick<Deps, 'dataDir'>,
  target: OpenPath,
  changes: readonly Pick<Change, 'path'>[],
): void {
  const inside = changes.find(({ path }) => isWithin(join(target.real, toText(path)), dataDir));
  if (inside === undefined) return;
  throw new WorkspaceError('EPUBLISHFORBIDDEN', `${toText(inside.path)} would lie in the data directory.`);
}
