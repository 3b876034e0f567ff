import type { PublishPlan } from '@holdpoint/contract';
import type { Deps, PublishRequest, PublishResult } from '../deps.ts';
import { WorkspaceError } from '../errors.ts';
import { requireRecord, runFolder } from '../run/index.ts';
import { openTarget } from './directory/open-target.ts';
import { planDirectory } from './directory/plan-directory.ts';
import { publishDirectory, recoverPublish } from './directory/publish-directory.ts';
import { planGit } from './git/plan-git.ts';
import { publishGit } from './git/publish-git.ts';

/** Dry run: plans the publish of the changes base..snapshot to the source, without writing to the source. */
export async function planPublish(deps: Deps, request: PublishRequest): Promise<PublishPlan> {
  const folder = runFolder(deps.dataDir, request.runId);
  const record = requireRecord(folder);
  switch (record.source.type) {
    case 'git':
      return (await planGit(deps, { folder, record, ...request })).plan;
    case 'directory': {
      // A publish that crashed after its commit point is finished before the source is inspected.
      await recoverPublish(deps, { folder, record });
      using opened = openTarget(deps, record);
      return (await planDirectory(deps, { folder, record, opened, ...request })).plan;
    }
    default:
      throw notPublishable(record.source.type);
  }
}

/** Publishes, if the current plan has the digest that the caller expects. */
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
      ? 'The workspace has no source to publish to: it started empty.'
      : 'The workspace started from an archive, and archives are not rewritten.',
  );
