import type { Conflict, LeftOut } from '@holdpoint/contract';
import type { Deps } from '../../deps.ts';
import { toText } from '../../files/path-name.ts';
import type { ObjectWriter } from '../../git-objects/object-writer.ts';
import { createSelection } from '../../materialise/selection.ts';
import type { SnapshotId } from '../../port.ts';
import { commitTree } from '../../snapshot.ts';
import { assertUnmoved } from '../../source-repository/repository.ts';
import { takeCommit } from '../../source-repository/take-commit.ts';
import { mergeTrees } from '../../three-way/merge-trees.ts';
import { loadSnapshot, loadTree } from '../../tree/load-snapshot.ts';
import { type Change, changesBetween, emptyFolders, type Folder, find, isLeaf, isSame } from '../../tree/tree.ts';
import { changeSet, isWithinAny, leftOutOf } from '../change-set.ts';
import { overlay } from '../overlay.ts';
import { type CleanedChanges, cleanChanges } from './attributes/clean-changes.ts';
import { whyWithoutLfs } from './attributes/lfs-store.ts';
import { settleHeld } from './attributes/settle-held.ts';
import { type GitInput, scopeOf } from './git-input.ts';
import type { Intent } from './publish-intent.ts';
import type { SourceRepository } from './source-repository.ts';
import { type SourceTree, withSubmodules } from './submodules.ts';

/** A snapshot of the run and the commit that holds it: what the run began with, or what it published to this branch before. */
export interface Since {
  snapshot: SnapshotId;
  commit: string;
}

export interface MadeTree {
  /** What the branch has now. */
  at: SourceTree;
  /** What it is to have, without its submodules. */
  root: Folder;
  /** The same with them. */
  whole: Folder;
  /** What became of the run's files on the way into the repository. */
  cleaned: Pick<CleanedChanges, 'converted' | 'objects' | 'pointers'>;
  /** Whether the branch gets anything else than what the run has. */
  isOther: boolean;
  /** What of the run it is without. */
  leftOut: LeftOut[];
  conflicts: Conflict[];
}

/** The tree that a branch is to have: its own, with the change set brought in. What the change set does not name stays as it is there. */
export async function makeTree(
  deps: Deps,
  input: GitInput,
  { since, tip, writer, source }: { since: Since; tip: string | null; writer: ObjectWriter; source: SourceRepository },
): Promise<MadeTree> {
  const { folder, resolutions = [] } = input;
  const before = await treeOf(deps, input, since.commit);
  const at = tip === null || tip === since.commit ? before : await fetchTip(deps, input, { tip, source });
  const scope = scopeOf(input, [before.root]);
  const set = await changeSet(deps, { ...scope, from: since.snapshot, to: input.snapshot });
  const leftOut = await leftOutOf(deps, { ...scope, to: input.snapshot, set });
  const { gitDir } = source;
  const cleaned = await cleanChanges(deps, {
    ...{ shadow: folder.shadow, writer, before: before.root, at: at.root, changes: set.changes },
    source: { gitDir, withoutLfs: await whyWithoutLfs(deps, source) },
  });
  const held = await settleHeld(deps, { ...{ folder, writer, resolutions }, source: at.root, held: cleaned.held });
  const changes = cleaned.changes;
  const run = overlay(before.root, changes);
  if (run.blocked.length > 0) {
    const conflicts = run.blocked.map(blocked);
    return { at, root: at.root, whole: at.root, cleaned, isOther: false, leftOut, conflicts };
  }
  const unseen = changes.filter((change) => isUnseen(before.root, change));
  // Where the commit has something else than the run knew, that is like a branch that has moved.
  const isMerged = at !== before || unseen.length > 0;
  const merged = !isMerged
    ? { root: run.root, conflicts: [] }
    : await mergeTrees(deps, {
        ...{ folder, writer, resolutions, source: at.root, run: run.root },
        base: overlay(
          before.root,
          unseen.map((change) => ({ ...change, new: change.old })),
        ).root,
        sides: { source: 'the branch', run: 'the run' },
        sourceGitDir: gitDir,
      });
  // What a person decided is the state of that path, whatever the branch has there.
  const decided = overlay(merged.root, held.changes);
  const { root: whole, conflicts } = withSubmodules(decided.root, at);
  const isOther = isMerged || held.isOther || cleaned.converted.some(({ how }) => how !== 'lfs');
  const all = [...held.conflicts, ...merged.conflicts, ...decided.blocked.map(blocked), ...conflicts];
  return { at, root: decided.root, whole, cleaned, isOther, leftOut, conflicts: all };
}

/**
 * What validators run on: the workspace with everything that the publish takes over from the branch. Only what a workspace can hold: what
 * globs left out of it, or the snapshot skipped, is not there. Without a merge it is the given snapshot itself.
 *
 * What the source ignores is not published and stays in the candidate: tests need the `node_modules` that the run installed.
 */
export async function makeCandidate(
  deps: Deps,
  input: GitInput,
  { made, own, writer }: { made: MadeTree; own: Intent | undefined; writer: ObjectWriter },
): Promise<SnapshotId> {
  const { root } = made;
  const { folder, record, snapshot } = input;
  const { after, changes } = await changeSet(deps, { ...scopeOf(input, []), from: record.base, to: snapshot });
  const base = await treeOf(deps, input, record.base_commit ?? '');
  const selection = createSelection(record.source.type === 'empty' ? {} : record.source);
  const { skipped, permissions, repositories } = after.manifest;
  const earlier = own && (await settledBefore(deps, input, own));
  const taken = changesBetween(overlay(base.root, changes).root, root).filter(({ path }) => {
    return selection.has(path) && !isWithinAny(skipped, path);
  });
  const inWorkspace = taken.flatMap((change) => {
    // Validators see the content, not the pointer that stands for it in the repository.
    if (change.new !== null && made.cleaned.pointers.get(change.path) === change.new.oid) return [];
    return [earlier?.(change) ?? change];
  });
  const candidate = overlay(after.root, inWorkspace).root;
  const { id } = await commitTree(deps, {
    ...{ folder, state: deps.states.of(folder), writer, root: candidate, parent: after },
    manifest: { skipped, empty: emptyFolders(candidate), permissions, repositories },
    message: 'merged for a publish',
    seconds: record.created_at,
  });
  return id;
}

/** What an earlier publish left as it was: validators see it as they did then. */
async function settledBefore(
  deps: Deps,
  input: GitInput,
  own: Intent,
): Promise<(change: Change) => Change | undefined> {
  const { folder } = input;
  const before = await treeOf(deps, input, own.commit);
  const shown = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: own.candidate });
  return ({ path, old, new: now }) => {
    const names = path.split('/');
    const [published, seen] = [find(before.root, names), find(shown.root, names)];
    return isLeaf(seen) && isSame(published, now ?? undefined) ? { path, old, new: seen } : undefined;
  };
}

const blocked = (path: string): Conflict => ({
  path: toText(path),
  reason: 'changed_in_source',
  detail: 'Files that are no part of the workspace are in the way.',
});

/** Whether the commit has neither what the run found at a path nor what it made of it: a glob or a limit kept it from being seen. */
function isUnseen(root: Folder, change: Change): boolean {
  const entry = find(root, change.path.split('/'));
  const there = isLeaf(entry) ? entry : undefined;
  return !isSame(there, change.old ?? undefined) && !isSame(there, change.new ?? undefined);
}

async function fetchTip(
  deps: Deps,
  input: GitInput,
  { tip, source }: { tip: string; source: SourceRepository },
): Promise<SourceTree> {
  const { repository } = source;
  const ref = `refs/holdpoint/tips/${tip}`;
  await takeCommit(deps.git, { folder: input.folder, repository, commit: tip, ref });
  await assertUnmoved(deps, repository);
  return treeOf(deps, input, tip);
}

export async function treeOf(deps: Deps, { folder }: GitInput, commit: string): Promise<SourceTree> {
  return loadTree(deps, { folder, state: deps.states.of(folder), treeish: `${commit}^{tree}` });
}
