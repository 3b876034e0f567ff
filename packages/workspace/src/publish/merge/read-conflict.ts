import type { ConflictLines, FileVersion } from '@holdpoint/contract';
import { type Call, type Deps, WorkspaceError } from '../../deps.ts';
import { requireRecord, runFolder } from '../../run-folder/index.ts';
import { canonicalMode, type Leaf } from '../../store/objects/index.ts';
import { withBorrowedShadow } from '../borrowed-shadow.ts';
import { mapThree } from './merge-folders.ts';
import { viewConflict } from './view-conflict.ts';

/** Shows a file in conflict by lines. Writes nothing into the folder of the run. */
export async function readConflict(
  deps: Deps,
  { runId, versions: shown, page }: Call<'conflict'>,
): Promise<ConflictLines> {
  const folder = runFolder(deps.dataDir, runId);
  requireRecord(folder);
  const versions = mapThree<FileVersion | null, Leaf | null>(shown, toLeaf);
  const oids = [versions.base, versions.source, versions.run].flatMap((leaf) => leaf?.oid ?? []);
  return withBorrowedShadow(deps, folder, async (_, { shadow: gitDir }) => {
    await assertKept(deps, gitDir, oids);
    return viewConflict(deps, { gitDir, versions, page });
  });
}

const toLeaf = (version: FileVersion | null): Leaf | null =>
  version && { mode: canonicalMode(version.mode), oid: version.oid };

async function assertKept(deps: Deps, gitDir: string, oids: readonly string[]): Promise<void> {
  const args = [`--git-dir=${gitDir}`, 'cat-file', '--batch-check=%(objecttype)'];
  const { stdout } = await deps.git.run(args, { input: `${oids.join('\n')}\n` });
  const isKept = stdout
    .toString('latin1')
    .trim()
    .split('\n')
    .every((type) => type === 'blob');
  if (!isKept) throw new WorkspaceError('ECONFLICTGONE', 'The versions of this conflict are no longer kept.');
}
