import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import type { PublishResult, SnapshotId } from '../port.ts';
import { runFolder } from '../run/run-folder.ts';
import { requireRecord } from '../run/workspace-record.ts';
import { publishDirectory } from './publish-directory.ts';
import { publishGit } from './publish-git.ts';

/** Brings the change set base..snapshot to where the workspace came from. */
export async function publish(
  deps: Deps,
  input: { runId: string; snapshot: SnapshotId; message: string },
): Promise<PublishResult> {
  const folder = runFolder(deps.dataDir, input.runId);
  const record = requireRecord(folder);
  switch (record.source.type) {
    case 'git':
      return publishGit(deps, { folder, record, ...input });
    case 'directory':
      return publishDirectory(deps, { folder, record, snapshot: input.snapshot });
    case 'empty':
      throw new WorkspaceError('ENOTPUBLISHABLE', 'The workspace began empty: there is nowhere to publish to.');
    default:
      throw record.source satisfies never;
  }
}
