import type { PublishPlan } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import type { PublishRequest, PublishResult } from '../port.ts';
import { runFolder } from '../run/run-folder.ts';
import { requireRecord } from '../run/workspace-record.ts';
import { openTarget } from './directory/open-target.ts';
import { planDirectory } from './directory/plan-directory.ts';
import { publishDirectory, recoverPublish } from './directory/publish-directory.ts';
import { planGit } from './git/plan-git.ts';
import { publishGit } from './git/publish-git.ts';

/** What bringing the change set base..snapshot to where the workspace came from would do now. */
export async function planPublish(deps: Deps, request: PublishRequest): Promise<PublishPlan> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  switch (record.source.type) {
    case 'git':
      return (await planGit(deps, { folder, record, ...request })).plan;
    case 'directory': {
      // A publish that died half-way was decided: it is brought to its end before the source is looked at.
      await recoverPublish(deps, { folder, record });
      using place = openTarget(deps, record);
      return (await planDirectory(deps, { folder, record, place, ...request })).plan;
    }
    default:
      throw notPublishable(record.source.type);
  }
}

/** Does that, when it is what the caller expects. */
export async function publish(deps: Deps, request: PublishRequest & { expect: string }): Promise<PublishResult> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  switch (record.source.type) {
    case 'git':
      return publishGit(deps, { folder, record, ...request });
    case 'directory':
      return publishDirectory(deps, { folder, record, ...request });
    default:
      throw notPublishable(record.source.type);
  }
}

const notPublishable = (source: 'empty' | 'archive'): WorkspaceError =>
  new WorkspaceError(
    'ENOTPUBLISHABLE',
    source === 'empty'
      ? 'The workspace began empty: there is nowhere to publish to.'
      : 'The workspace began with an archive, and archives are not rewritten.',
  );
