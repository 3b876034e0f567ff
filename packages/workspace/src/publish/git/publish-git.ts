import type { Deps } from '../../deps.ts';
import type { PublishResult } from '../../port.ts';
import type { GitInput } from './git-input.ts';
import { planGit } from './plan-git.ts';
import { writeIntent } from './publish-intent.ts';
import { moveBranch, sendObjects, updateRef } from './source-repository.ts';

/**
 * Publishes to a branch of the source repository: objects, a ref of our own, then the branch by compare-and-set. The user's work tree,
 * index and HEAD are not touched. Dying anywhere before the compare-and-set leaves a harmless ref at most.
 */
export async function publishGit(deps: Deps, input: GitInput & { expect: string }): Promise<PublishResult> {
  const { folder, snapshot } = input;
  const { plan, target, source, parent } = await planGit(deps, input);
  if (plan.digest !== input.expect) return { status: 'moved' };
  if (plan.conflicts.length > 0) return { status: 'conflict', conflicts: plan.conflicts };
  const { branch, commit, from } = target;
  if (commit === null || source === undefined) return { status: 'moved' };
  const published: PublishResult = {
    status: 'published',
    published: { type: 'git', path: target.path, branch, commit, left_out: plan.left_out },
  };
  if (target.how === 'nothing') return published;
  await sendObjects(deps, { folder, source, commit, has: parent });
  deps.onPoint('publish-git.objects');
  await updateRef(deps, source, [`refs/holdpoint/${folder.runId}/out`, commit]);
  deps.onPoint('publish-git.ref');
  const { candidate, digest } = plan;
  const include_ignored = input.target.include_ignored === true;
  await writeIntent(folder, branch, { snapshot, commit, candidate, digest, include_ignored });
  deps.onPoint('publish-git.intent');
  const moved = await moveBranch(deps, source, { branch, from, commit });
  deps.onPoint('publish-git.branch');
  return moved === undefined ? published : { status: 'moved' };
}
