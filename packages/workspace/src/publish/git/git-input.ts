import type { PublishRequest } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';

/** A request to publish to a git source. */
export interface GitInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
}
