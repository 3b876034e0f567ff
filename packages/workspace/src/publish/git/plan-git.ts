import type { Deps } from '../../deps.ts';
import { WorkspaceError } from '../../errors.ts';
import { toText } from '../../files/path-name.ts';
import { signature } from '../../git-objects/commit-object.ts';
import { createObjectWriter, type ObjectWriter } from '../../git-objects/object-writer.ts';
import { writeRef } from '../../git-objects/ref-file.ts';
import { fetchCommit } from '../../host-git/shadow.ts';
import type { Conflict, PublishPlan, PublishRequest } from '../../port.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import type { WorkspaceRecord } from '../../run/workspace-record.ts';
import { commitTree } from '../../snapshot.ts';
import { loadTree } from '../../tree/load-snapshot.ts';
import {
  type Change,
  changesBetween,
  emptyFolders,
  type Folder,
  find,
  isFolder,
  isLeaf,
  isSame,
  type Leaf,
  modes,
  withEntry,
} from '../../tree/tree.ts';
import { type ChangeSet, changeSet } from '../change-set.ts';
import { overlay } from '../overlay.ts';
import { toPlanFiles, withDigest } from '../plan-digest.ts';
import { resolve } from '../resolve.ts';
import { readVersions } from '../versions.ts';
import { mergeTrees } from './merge-trees.ts';
import { readIntent } from './publish-intent.ts';
import {
  checkedOut,
  hasCommit,
  isMerged,
  openSource,
  readBranch,
  refInTheWay,
  type SourceRepository,
} from './source-repository.ts';

export interface GitInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
}

/** A plan, and what it takes to carry it out. Without `source` there is nothing that could be done. */
export interface GitPlan {
  plan: PublishPlan;
  target: Extract<PublishPlan['target'], { type: 'git' }>;
  source?: SourceRepository;
  /** The commit that the new one goes on from. */
  parent: string;
}

/** A tree of the source with its submodules, which are no part of a workspace. */
interface SourceTree {
  root: Folder;
  submodules: { path: string; oid: string }[];
}

/**
 * A publish to a branch is one commit: on the commit that the run began with when the branch is new or still there, and on the branch's
 * tip when that has moved, with the merged tree. It is no merge commit: the run's own base may not be in the branch's past any more, and
 * what was merged is one reviewed change either way. The commit is a function of its inputs, so a call after a crash makes it again.
 */
export async function planGit(deps: Deps, input: GitInput): Promise<GitPlan> {
  const { record, folder } = input;
  const branch = await branchOf(deps, input);
  const base = record.base_commit ?? '';
  const gitDir = record.origin ?? '';
  const author = input.target.author ?? signature;
  const fixed = { type: 'git', path: pathOf(record), branch, message: input.target.message, author } as const;
  const refuse = (from: string | null, conflicts: Conflict[]): GitPlan => {
    const target = { ...fixed, from, commit: null, how: 'nothing' as const };
    return {
      plan: withDigest({ target, candidate: input.snapshot, files: [], conflicts }, null),
      target,
      parent: base,
    };
  };

  const source = openSource(deps, gitDir);
  if (source === undefined) return refuse(null, [gone(gitDir, 'The repository is not where it was.')]);
  const tip = (await readBranch(deps, source, branch)) ?? null;
  const done = await publishedBefore(deps, { ...input, source, branch, tip });
  if (done !== undefined) {
    const target = { ...fixed, from: tip, commit: done, how: 'nothing' as const };
    return {
      plan: withDigest({ target, candidate: input.snapshot, files: [], conflicts: [] }, null),
      target,
      source,
      parent: base,
    };
  }
  if (tip !== null && input.target.branch === undefined) {
    const detail = `The branch exists already, at ${tip}. Name another branch, or this one to merge into it.`;
    return refuse(tip, [{ path: branch, reason: 'branch_exists', detail }]);
  }
  const inTheWay = tip === null ? await refInTheWay(deps, source, branch) : undefined;
  if (inTheWay !== undefined) {
    const detail = `There is a branch ${inTheWay}, and git cannot have both. Name another branch.`;
    return refuse(tip, [{ path: branch, reason: 'branch_exists', detail }]);
  }
  if ((await checkedOut(deps, source)).has(branch)) {
    const detail =
      'A work tree of the repository is at this branch, and would look as if it took everything back. Publish to another branch and merge that.';
    return refuse(tip, [{ path: branch, reason: 'branch_checked_out', detail }]);
  }
  if (!(await hasCommit(deps, source, base))) {
    return refuse(tip, [gone(gitDir, `The commit ${base} that the run started from is gone.`)]);
  }

  const writer = createObjectWriter({ gitDir: folder.shadow, known: deps.states.of(folder).known });
  const set = await changeSet(deps, { folder, from: record.base, to: input.snapshot });
  const before = await treeOf(deps, folder, base);
  const { changes: wanted, conflicts: unseen } = await meetUnseen(deps, input, { set, before, writer });
  if (unseen.length > 0) return refuse(tip, unseen);
  const ours = overlay(before.root, wanted);
  if (ours.blocked.length > 0) return refuse(tip, ours.blocked.map(blocked));
  const parent = tip ?? base;
  const made =
    parent === base
      ? { at: before, root: ours.root, conflicts: [] }
      : await merge(deps, input, { writer, base: before, ours: ours.root, tip: parent });
  if (made.conflicts.length > 0) return refuse(tip, made.conflicts);

  const tree = writer.root(withSubmodules(made.root, made.at));
  const from = tip;
  const changes = changesBetween(made.at.root, made.root);
  if (changes.length === 0 && tip !== null) {
    const target = { ...fixed, from, commit: tip, how: 'nothing' as const };
    return {
      plan: withDigest({ target, candidate: input.snapshot, files: [], conflicts: [] }, null),
      target,
      source,
      parent,
    };
  }
  const { message } = fixed;
  const commit = writer.commit({ tree, parent, seconds: record.created_at, message, author });
  await writer.flush();
  await writeRef(folder.shadow, `refs/holdpoint/out/${commit}`, commit);
  writer.held();
  const candidate =
    parent === base
      ? input.snapshot
      : await candidateOf(deps, input, { writer, set, changes: changesBetween(before.root, made.root) });
  deps.onPoint('publish-git.planned');
  const how = tip === null ? 'create' : tip === base ? 'fast_forward' : 'merge';
  const target = { ...fixed, from, commit, how } as const;
  return {
    plan: withDigest({ target, candidate, files: toPlanFiles(changes), conflicts: [] }, tree),
    target,
    source,
    parent,
  };
}

const pathOf = ({ source, origin }: WorkspaceRecord): string => (source.type === 'git' ? source.path : (origin ?? ''));

const gone = (path: string, detail: string): Conflict => ({ path, reason: 'source_missing', detail });

const blocked = (path: string): Conflict => ({
  path: toText(path),
  reason: 'changed_in_source',
  detail: 'A folder with files that are no part of the workspace is there.',
});

/** The full name of the branch. Anything that git would not take for one is refused before it reaches a command line. */
async function branchOf(deps: Deps, { folder, target }: GitInput): Promise<string> {
  const branch = `refs/heads/${target.branch ?? `holdpoint/${folder.runId}`}`;
  const { code } = await deps.git.run(['check-ref-format', branch], { accept: [0, 1] });
  if (code === 0 && target.branch?.startsWith('-') !== true) return branch;
  throw new WorkspaceError('EBRANCHINVALID', `git does not take ${JSON.stringify(target.branch)} for a branch.`);
}

/**
 * The commit of an earlier call that got as far as the branch: the branch is at it, or has gone on from it since. The intention was
 * written down before the branch was touched.
 */
async function publishedBefore(
  deps: Deps,
  input: GitInput & { source: SourceRepository; branch: string; tip: string | null },
): Promise<string | undefined> {
  const intent = readIntent(input.folder, input.branch);
  if (intent === undefined || intent.snapshot !== input.snapshot || input.tip === null) return undefined;
  return (await isMerged(deps, input.source, intent.commit, input.tip)) ? intent.commit : undefined;
}

/**
 * A file that the run made where the commit has one that was no part of the workspace (a glob left it out, or it was too large): nobody has
 * seen it, so a person decides.
 */
async function meetUnseen(
  deps: Deps,
  { folder, resolutions = [] }: GitInput,
  { set, before, writer }: { set: ChangeSet; before: SourceTree; writer: ObjectWriter },
): Promise<{ changes: Change[]; conflicts: Conflict[] }> {
  const changes: Change[] = [];
  const open: { change: Change; source: Leaf }[] = [];
  for (const change of set.changes) {
    const there = find(before.root, change.path.split('/'));
    const source = change.old === null && isLeaf(there) && !isSame(there, change.new ?? undefined) ? there : undefined;
    const resolution = resolutions.find((one) => one.path === toText(change.path));
    const resolved = source && resolve(resolution, { source, run: change.new }, writer);
    if (source !== undefined && resolved === undefined) open.push({ change, source });
    else changes.push(resolved === undefined ? change : { ...change, new: resolved.leaf });
  }
  const leaves = open.flatMap(({ change, source }) => [source, change.new]);
  const show = await readVersions(deps, folder.shadow, leaves);
  const conflicts = open.map(
    ({ change, source }): Conflict => ({
      path: toText(change.path),
      reason: 'changed_in_source',
      detail: 'The commit has a file here that was no part of the workspace.',
      versions: { base: null, source: show(source), run: show(change.new) },
    }),
  );
  return { changes, conflicts };
}

async function treeOf(deps: Deps, folder: RunFolder, commit: string): Promise<SourceTree> {
  return loadTree(deps, { folder, state: deps.states.of(folder), treeish: `${commit}^{tree}` });
}

async function merge(
  deps: Deps,
  input: GitInput,
  at: { writer: ObjectWriter; base: SourceTree; ours: Folder; tip: string },
): Promise<{ at: SourceTree; root: Folder; conflicts: Conflict[] }> {
  const { folder, record } = input;
  const { writer, base, ours, tip } = at;
  await fetchCommit(deps.git, { folder, gitDir: record.origin ?? '', commit: tip, ref: `refs/holdpoint/tips/${tip}` });
  const theirs = await treeOf(deps, folder, tip);
  const { root, conflicts } = await mergeTrees(deps, {
    folder,
    writer,
    base: base.root,
    source: theirs.root,
    run: ours,
    resolutions: input.resolutions ?? [],
  });
  return { at: theirs, root, conflicts };
}

/** What validators run on after a merge: the workspace with everything that both sides changed. */
async function candidateOf(
  deps: Deps,
  input: GitInput,
  { writer, set, changes }: { writer: ObjectWriter; set: ChangeSet; changes: readonly Change[] },
): Promise<string> {
  const { folder, record } = input;
  const { root } = overlay(set.after.root, changes);
  const taken = await commitTree(deps, {
    ...{ folder, state: deps.states.of(folder), writer, root, parent: set.after },
    manifest: { skipped: set.after.manifest.skipped, empty: emptyFolders(root) },
    message: 'merged for a publish',
    seconds: record.created_at,
  });
  return taken.id;
}

/** Puts submodules back where nothing of the change set stands in their place. */
function withSubmodules(root: Folder, { submodules }: SourceTree): Folder {
  let result = root;
  for (const { path, oid } of submodules) {
    const names = path.split('/');
    const now = find(result, names);
    const untouched = now === undefined || (isFolder(now) && now.entries.size === 0);
    if (untouched && isReachable(result, names)) result = withEntry(result, names, { mode: modes.submodule, oid });
  }
  return result;
}

/** Whether no file stands where a folder on the way would have to be. */
function isReachable(root: Folder, names: readonly string[]): boolean {
  return names.every((_, index) => {
    const entry = find(root, names.slice(0, index));
    return entry === undefined || isFolder(entry);
  });
}
