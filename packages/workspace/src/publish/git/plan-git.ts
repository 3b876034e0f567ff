import { type Conflict, type LeftOut, type PublishPlan, placeOf } from '@holdpoint/contract';
import type { Deps, WorkspaceRecord } from '../../deps.ts';
import { toText } from '../../files/index.ts';
import { shareRules } from '../../left-out/ignore-rules.ts';
import type { Repository } from '../../source/git/repository.ts';
import { changesBetween, createObjectWriter, signature, writeRef } from '../../store/objects/index.ts';
import { keepConflicts, leftOutOf, oidsOf, toPlanFiles, withDigest, withMoves } from '../index.ts';
import type { LfsObject } from './attributes/clean-changes.ts';
import { branchName, type GitInput, pullRequestText, scopeOf } from './git-input.ts';
import { makeCandidate, makeTree, type Since, treeOf } from './make-tree.ts';
import { type Intent, readIntent } from './publish-intent.ts';
import { endWatch, hasCommit, isCheckedOut, isMerged, openBranch, type SourceBranch } from './source-branch.ts';

type GitTarget = Extract<PublishPlan['target'], { type: 'git' }>;

/** A plan and the inputs of its execution. Without `source` the plan cannot be executed. */
export interface GitPlan {
  plan: PublishPlan;
  target: GitTarget;
  source?: Repository;
  /** Parent of the new commit. */
  parent: string;
  /** LFS objects needed in the source before the commit with their pointers. */
  objects?: readonly LfsObject[];
}

/**
 * A publish to a branch is a single commit. Its parent is the base commit of the run when the branch is new or unmoved, else the branch's
 * tip, with the merged tree. The commit is not a merge commit: the branch may no longer contain the run's base, and the change was reviewed
 * as a whole. The commit is a function of its inputs, so a call after a crash creates the same commit.
 */
export async function planGit(deps: Deps, input: GitInput): Promise<GitPlan> {
  const { record, folder } = input;
  const branch = branchName(input.target.branch ?? `holdpoint/${folder.runId}`);
  const at = await openBranch(deps, { record, branch, runId: folder.runId });
  try {
    await using rules = shareRules();
    return await planAt(deps, { ...input, rules }, { branch, at });
  } finally {
    endWatch(at?.source);
  }
}

async function planAt(
  deps: Deps,
  input: GitInput,
  { branch, at }: { branch: string; at: SourceBranch | undefined },
): Promise<GitPlan> {
  const { record, folder, snapshot } = input;
  const fixed = describeTarget(input, branch);
  const base = record.base_commit ?? '';
  const source = at?.source;
  const tip = at?.tip ?? null;
  const own = at && (await publishedBefore(deps, input, at));
  const since: Since = continuedFrom(input, own) ?? { snapshot: record.base, commit: base };
  const parent = tip ?? base;
  const how = tip === null ? 'create' : tip === since.commit ? 'fast_forward' : 'merge';
  const finish = (target: GitTarget, plan: Omit<PublishPlan, 'target' | 'digest'>, exact: unknown): GitPlan => {
    const digested = withDigest({ target, ...plan }, [exact, input.resolutions ?? []]);
    return { plan: digested, target, parent, source };
  };
  const refuse = (conflicts: Conflict[], left_out: LeftOut[] = []): GitPlan =>
    finish({ ...fixed, from: tip, commit: null, how }, { candidate: snapshot, files: [], left_out, conflicts }, null);

  if (at === undefined || source === undefined)
    return refuse([sourceMissing(record, 'The repository is missing, or git cannot read it.')]);
  if (own !== undefined && since.snapshot === snapshot) {
    const target = { ...fixed, from: tip, commit: own.commit, how: 'nothing' as const };
    const { root } = await treeOf(deps, input, own.commit);
    const left_out = await leftOutOf(deps, { ...scopeOf(input, [root]), to: snapshot });
    const about = { candidate: own.candidate, files: [], left_out, conflicts: [] };
    // The digest that was approved stands for its own pull request alone.
    if (own.pull_request !== pullRequestText(input)) return finish(target, about, own.commit);
    const plan = { target, ...about, digest: own.digest };
    return { plan, target, source, parent };
  }
  const obstacle = await findObstacle(deps, { ...input, at, own });
  if (obstacle !== undefined) return refuse([obstacle]);

  const writer = createObjectWriter({ gitDir: folder.shadow, known: deps.states.of(folder).known });
  const made = await makeTree(deps, input, { since, tip, writer, source });
  const { leftOut: left_out } = made;
  if (made.conflicts.length > 0) {
    await keepConflicts({ folder, record, writer }, made.conflicts.flatMap(oidsOf));
    return refuse(made.conflicts, left_out);
  }
  const changes = changesBetween(made.at.root, made.root);
  if (changes.length === 0 && tip !== null) {
    const target = { ...fixed, from: tip, commit: tip, how: 'nothing' as const };
    return finish(target, { candidate: snapshot, files: [], left_out, conflicts: [] }, null);
  }
  const tree = await writer.root(made.whole);
  const { message, author } = fixed;
  const commit = writer.commit({ tree, parent, seconds: record.created_at, message, author });
  await writer.flush();
  await writeRef(folder.shadow, `refs/holdpoint/out/${commit}`, commit);
  writer.markReferenced();
  const isOwn = !made.isOther && own === undefined;
  const candidate = isOwn ? snapshot : await makeCandidate(deps, input, { made, own, writer });
  deps.onPoint('publish-git.planned');
  const target = { ...fixed, from: tip, commit, how } as const;
  const paths = new Set(changes.map(({ path }) => path));
  const converted = made.cleaned.converted
    .filter(({ path }) => paths.has(path))
    .map((one) => ({ ...one, path: toText(one.path) }));
  const plan = { candidate, files: toPlanFiles(changes), left_out, conflicts: [] };
  const shown = converted.length > 0 ? converted : undefined;
  const done = finish(target, { ...plan, converted: shown }, tree);
  const trees = { gitDir: folder.shadow, writer, from: made.at.root, to: made.root };
  const files = await withMoves(deps, plan.files, trees);
  return { ...done, plan: { ...done.plan, files }, objects: made.cleaned.objects };
}

/**
 * The publish to continue from. When ignored files were left out of the earlier publish and are included now, changes count from the start
 * of the run.
 */
function continuedFrom({ target, record }: GitInput, own: Intent | undefined): Since | undefined {
  if (own === undefined || target.include_ignored !== true || own.include_ignored === true) return own;
  return { snapshot: record.base, commit: own.commit };
}

function describeTarget({ record, folder, target }: GitInput, branch: string) {
  return {
    type: 'git',
    path: record.source.type === 'git' ? placeOf(record.source) : (record.origin ?? ''),
    branch,
    message: target.message.trim() === '' ? `Holdpoint run ${folder.runId}` : target.message,
    author: target.author ?? signature,
    ...(target.pull_request && { pull_request: target.pull_request }),
  } as const;
}

/** The intent of an earlier call, if the branch contains its commit. */
async function publishedBefore(
  deps: Deps,
  input: GitInput,
  { source, name, tip }: SourceBranch,
): Promise<Intent | undefined> {
  const intent = readIntent(input.folder, name);
  if (intent === undefined || tip === null) return undefined;
  return (await isMerged(deps, source, intent.commit, tip)) ? intent : undefined;
}

/** Why the branch cannot be written at all. */
async function findObstacle(
  deps: Deps,
  input: GitInput & { at: SourceBranch; own: Intent | undefined },
): Promise<Conflict | undefined> {
  const { at, own, record } = input;
  const { source, name: branch, tip, inTheWay } = at;
  // A run may extend its own branch with its next publish, unless another commit is on top.
  if (tip !== null && input.target.branch === undefined && own?.commit !== tip) {
    const detail = `The branch already exists, at ${tip}. Name another branch, or name this one to merge into it.`;
    return { path: branch, reason: 'branch_exists', detail };
  }
  if (tip === null && inTheWay !== undefined) {
    const detail = `There is a branch ${inTheWay}, and git cannot have both. Name another branch.`;
    return { path: branch, reason: 'branch_exists', detail };
  }
  if (await isCheckedOut(deps, at)) {
    const detail =
      'A work tree of the repository has this branch checked out, and would show the publish as reverted. Publish to another branch and merge that.';
    return { path: branch, reason: 'branch_checked_out', detail };
  }
  const base = record.base_commit ?? '';
  if (tip !== null || (await hasCommit(deps, source, base))) return undefined;
  return sourceMissing(record, `The commit ${base} that the run started from is gone.`);
}

const sourceMissing = ({ origin }: WorkspaceRecord, detail: string): Conflict => ({
  path: origin ?? '',
  reason: 'source_missing',
  detail,
});
