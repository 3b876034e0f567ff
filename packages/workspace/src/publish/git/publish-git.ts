import { existsSync } from 'node:fs';
import { isRemote } from '@holdpoint/contract';
import type { Deps, PublishResult } from '../../deps.ts';
import { pushCommit } from '../../remote/push-commit.ts';
import { storeLfsObjects } from './attributes/lfs-store.ts';
import { type GitInput, pullRequestText } from './git-input.ts';
import { dropOwnRef, moveBranch, ownRef, placeCommit } from './place-commit.ts';
import { type GitPlan, planGit } from './plan-git.ts';
import { preparePublish, writeIntent } from './publish-intent.ts';
import { endWatch, openBranch } from './source-branch.ts';

/**
 * Publishes to a branch of the source repository: objects, a private ref to keep them, then the branch by compare-and-set. The user's work
 * tree, index and HEAD are not touched. A crash at any point leaves at most a harmless ref, removed by the next call or the run's discard.
 */
export async function publishGit(deps: Deps, input: GitInput & { expect: string }): Promise<PublishResult> {
  const planned = await planGit(deps, input);
  const result = await executePlan(deps, input, planned);
  if (planned.source !== undefined && planned.source.remote === undefined)
    await dropOwnRef(deps, planned.source, input.folder.runId);
  deps.onPoint('publish-git.settled');
  return result;
}

async function executePlan(
  deps: Deps,
  input: GitInput & { expect: string },
  { plan, target, source, parent, objects = [] }: GitPlan,
): Promise<PublishResult> {
  const { folder, snapshot } = input;
  if (plan.digest !== input.expect) return { status: 'moved' };
  if (plan.conflicts.length > 0) return { status: 'conflict', conflicts: plan.conflicts };
  const { branch, commit, from } = target;
  if (commit === null || source === undefined) return { status: 'moved' };
  const published: PublishResult = {
    status: 'published',
    published: { type: 'git', path: target.path, branch, commit, left_out: plan.left_out },
  };
  if (target.how === 'nothing') return published;
  await preparePublish(folder);
  if (source.remote === undefined) {
    await storeLfsObjects(deps, { shadow: folder.shadow, source, objects });
    await placeCommit(deps, { folder, source, commit, has: parent });
    deps.onPoint('publish-git.ref');
  }
  const { candidate, digest } = plan;
  const include_ignored = input.target.include_ignored === true;
  const pull_request = pullRequestText(input);
  await writeIntent(folder, branch, { snapshot, commit, candidate, digest, include_ignored, pull_request });
  deps.onPoint('publish-git.intent');
  const move = { branch, from, commit };
  const moved =
    source.remote === undefined
      ? await moveBranch(deps, source, { ...move, runId: folder.runId })
      : await pushCommit(deps, { ...move, folder, remote: source.remote, parent });
  deps.onPoint('publish-git.branch');
  return moved === undefined ? published : { status: 'moved' };
}

/** Removes the ref of a crashed publish from the source. A run without a publish folder never started a publish. */
export async function removePublishRef(
  deps: Deps,
  { folder, record }: Pick<GitInput, 'folder' | 'record'>,
): Promise<void> {
  if (record.source.type !== 'git' || isRemote(record.source) || !existsSync(folder.publish)) return;
  try {
    const own = await openBranch(deps, { record, branch: ownRef(folder.runId), runId: folder.runId });
    endWatch(own?.source);
    if (own !== undefined) await dropOwnRef(deps, own.source, folder.runId);
  } catch (error) {
    deps.logger.warn({ run_id: folder.runId, err: error }, 'could not open the source repository');
  }
}
