import type { Scope } from '../../left-out/find-left-out.ts';
import type { PublishRequest } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';
import type { Folder } from '../../tree/tree.ts';

/** A request to publish to a git source. */
export interface GitInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
}

/** What decides which changes are published, for a source that has these trees. */
export const scopeOf = ({ folder, record, target }: GitInput, tracked: readonly Folder[]): Scope => ({
  folder,
  record,
  tracked,
  includeIgnored: target.include_ignored === true,
});
