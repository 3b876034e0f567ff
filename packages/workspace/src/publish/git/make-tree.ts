import type { Conflict, LeftOut } from '@holdpoint/contract';
import type { Deps, ObjectWriter, SnapshotId } from '../../deps.ts';
import { isWithinAny, toText } from '../../files/index.ts';
import { mostListed } from '../../host-git/stream-blobs.ts';
import { commitTree } from '../../snapshots/snapshot.ts';
import { assertUnchanged, type Repository } from '../../source/git/repository.ts';
import { takeCommit } from '../../source/git/take-commit.ts';
import { createSelection } from '../../source/import-context.ts';
import * as objects from '../../store/objects/index.ts';
import { keepRecent, loadSnapshot, loadTree } from '../../tree/index.ts';
import { changeSet, findUnexplained, leftOutOf, unexplained } from '../index.ts';
import { mergeTrees } from '../merge/merge-trees.ts';
import { type CleanedChanges, cleanChanges } from './attributes/clean-changes.ts';
import { reasonAgainstLfs } from './attributes/lfs-store.ts';
import { resolveHeld } from './attributes/resolve-held.ts';
import { type GitInput, scopeOf } from './git-input.ts';
import type { Intent } from './publish-intent.ts';

/** A tree of the source, and its submodules. A workspace does not contain submodules. */
export interface SourceTree {
  root: objects.Folder;
  submodules: { path: string; oid: string }[];
}

/**
 * Adds the submodules of the source back. A file of the run in the place of a submodule is a conflict: the run could not see the submodule.
 */
function withSubmodules(
  root: objects.Folder,
  { submodules }: SourceTree,
): { root: objects.Folder; conflicts: Conflict[] } {
  const changes = submodules.map(
    ({ path, oid }): objects.Change => ({ path, old: null, new: { mode: objects.modes.submodule, oid } }),
  );
  const isTaken = ({ path }: objects.Change) => {
    const now = objects.find(root, path.split('/'));
    return now !== undefined && !(objects.isFolder(now) && now.entries.size === 0);
  };
  const placed = objects.applyChanges(root, changes);
  const taken = [...changes.filter(isTaken).map(({ path }) => path), ...placed.blocked];
  return { root: placed.root, conflicts: [...new Set(taken)].map(conflictAt) };
}

const conflictAt = (path: string): Conflict => ({
  path: toText(path),
  reason: 'changed_in_source',
  detail: 'The branch has a submodule here, which workspaces do not contain, and the run has files in its place.',
});

/** A snapshot of the run and its commit: the base of the run, or its last publish to this branch. */
export interface Since {
  snapshot: SnapshotId;
  commit: string;
}

export interface MadeTree {
  /** The current tree of the branch. */
  at: SourceTree;
  /** The new tree of the branch, without submodules. */
  root: objects.Folder;
  /** The new tree with submodules. */
  whole: objects.Folder;
  /** Conversions of the run's files for the repository. */
  cleaned: Pick<CleanedChanges, 'converted' | 'objects' | 'pointers'>;
  /** Whether the new tree differs from the run's. */
  isOther: boolean;
  /** Changes of the run outside of the publish. */
  leftOut: LeftOut[];
  conflicts: Conflict[];
}

/** Makes the new tree of a branch: its current tree with the change set applied. */
export async function makeTree(
  deps: Deps,
  input: GitInput,
  { since, tip, writer, source }: { since: Since; tip: string | null; writer: ObjectWriter; source: Repository },
): Promise<MadeTree> {
  const { folder, record, resolutions = [] } = input;
  const before = await treeOf(deps, input, since.commit);
  const at = tip === null || tip === since.commit ? before : await fetchTip(deps, input, { tip, source });
  // The candidate asks for the ignored paths of the whole run: asked first, one program answers for the smaller sets below as well.
  if (since.snapshot !== record.base) await changesOfRun(deps, input);
  const scope = scopeOf(input, [before.root]);
  const set = await changeSet(deps, { ...scope, from: since.snapshot, to: input.snapshot });
  const leftOut = await leftOutOf(deps, { ...scope, to: input.snapshot, set });
  const snapshots = [set.after.id, set.before.id];
  const strange = await findUnexplained(deps, { folder, base: record.base, snapshots, changes: set.changes });
  const explained = set.changes.filter(({ path }) => !strange.has(path));
  const unexplainedHeld = set.changes.filter(({ path }) => strange.has(path)).map(heldAsUnexplained);
  const gitDir = source.common;
  const cleaned = await cleanChanges(deps, {
    ...{ shadow: folder.shadow, writer, before: before.root, at: at.root, changes: explained },
    source: { gitDir, withoutLfs: async () => (source.remote ? remoteLfs : reasonAgainstLfs(deps, source)) },
  });
  const held = await resolveHeld(deps, {
    ...{ folder, writer, resolutions },
    source: at.root,
    held: [...cleaned.held, ...unexplainedHeld],
  });
  const changes = cleaned.changes;
  const run = objects.applyChanges(before.root, changes);
  if (run.blocked.length > 0) {
    const conflicts = run.blocked.map(blocked);
    return { at, root: at.root, whole: at.root, cleaned, isOther: false, leftOut, conflicts };
  }
  const unseen = changes.filter((change) => isUnseen(before.root, change));
  // Where the commit differs from the run's view, merge as for a moved branch.
  const isMerged = at !== before || unseen.length > 0;
  const merged = !isMerged
    ? { root: run.root, conflicts: [] }
    : await mergeTrees(deps, {
        ...{ folder, writer, resolutions, source: at.root, run: run.root },
        base: objects.applyChanges(
          before.root,
          unseen.map((change) => ({ ...change, new: change.old })),
        ).root,
        sides: { source: 'the branch', run: 'the run' },
        sourceGitDir: gitDir,
        drivers: cleaned.drivers,
      });
  // A person's decision sets the state of a path, whatever the branch has there.
  const decided = objects.applyChanges(merged.root, held.changes);
  const { root: whole, conflicts } = withSubmodules(decided.root, at);
  const isOther = isMerged || held.isOther || cleaned.converted.some(({ how }) => how !== 'lfs');
  const all = [...held.conflicts, ...merged.conflicts, ...decided.blocked.map(blocked), ...conflicts];
  return { at, root: decided.root, whole, cleaned, isOther, leftOut, conflicts: all };
}

const heldAsUnexplained = (change: objects.Change): CleanedChanges['held'][number] => ({
  change,
  detail: unexplained,
  reason: 'not_changed_by_run',
});

const remoteLfs =
  'git-lfs manages this file, and a publish to a remote does not send LFS objects. Take the run to commit the whole content as it is.';

/**
 * Makes the snapshot for validators: the workspace plus everything taken over from the branch. Paths left out by globs or the snapshot stay out.
 * Without a merge, the candidate is the given snapshot.
 *
 * Ignored files are not published but stay in the candidate: tests need the run's installed `node_modules`.
 */
export async function makeCandidate(
  deps: Deps,
  input: GitInput,
  { made, own, writer }: { made: MadeTree; own: Intent | undefined; writer: ObjectWriter },
): Promise<SnapshotId> {
  const { root } = made;
  const { folder, record } = input;
  const { after, changes } = await changesOfRun(deps, input);
  const base = await treeOf(deps, input, record.base_commit ?? '');
  const selection = createSelection(record.source.type === 'empty' ? {} : record.source);
  const { skipped, permissions, repositories } = after.manifest;
  const earlier = own && (await settledBefore(deps, input, own));
  const taken = objects.changesBetween(objects.applyChanges(base.root, changes).root, root).filter(({ path }) => {
    return selection.has(path) && !isWithinAny(skipped, path);
  });
  const inWorkspace = taken.flatMap((change) => {
    // Validators see the content, not its LFS pointer.
    if (change.new !== null && made.cleaned.pointers.get(change.path) === change.new.oid) return [];
    return [earlier?.(change) ?? change];
  });
  const candidate = objects.applyChanges(after.root, inWorkspace).root;
  const { id } = await commitTree(deps, {
    ...{ folder, state: deps.states.of(folder), writer, root: candidate, parent: after },
    manifest: { skipped, empty: objects.emptyFolders(candidate), permissions, repositories },
    message: 'merged for a publish',
    seconds: record.created_at,
  });
  return id;
}

const changesOfRun = (deps: Deps, input: GitInput) =>
  changeSet(deps, { ...scopeOf(input, []), from: input.record.base, to: input.snapshot });

/** For a path unchanged since the last publish, validators see the same version as then. */
async function settledBefore(
  deps: Deps,
  input: GitInput,
  own: Intent,
): Promise<(change: objects.Change) => objects.Change | undefined> {
  const { folder } = input;
  const before = await treeOf(deps, input, own.commit);
  const shown = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: own.candidate });
  return ({ path, old, new: now }) => {
    const names = path.split('/');
    const [published, seen] = [objects.find(before.root, names), objects.find(shown.root, names)];
    return objects.isLeaf(seen) && objects.isSame(published, now ?? undefined) ? { path, old, new: seen } : undefined;
  };
}

const blocked = (path: string): Conflict => ({
  path: toText(path),
  reason: 'changed_in_source',
  detail: 'Files outside the workspace are in the way.',
});

/** Whether the commit has neither the old nor the new version of the run: a glob or a limit hid the path from the run. */
function isUnseen(root: objects.Folder, change: objects.Change): boolean {
  const entry = objects.find(root, change.path.split('/'));
  const there = objects.isLeaf(entry) ? entry : undefined;
  return !objects.isSame(there, change.old ?? undefined) && !objects.isSame(there, change.new ?? undefined);
}

async function fetchTip(
  deps: Deps,
  input: GitInput,
  { tip, source }: { tip: string; source: Repository },
): Promise<SourceTree> {
  const ref = `refs/holdpoint/tips/${tip}`;
  // The ref is written when the objects are on disk. A publish plans again with the objects fetched by its plan.
  if (!objects.hasRef(input.folder.shadow, ref)) {
    const repository = source.remote?.tip ?? source;
    const { known } = deps.states.of(input.folder);
    await takeCommit(deps.git, { folder: input.folder, repository, commit: tip, ref, known });
    await assertUnchanged(deps, repository);
  }
  return treeOf(deps, input, tip);
}

/** The tree of a commit, from memory when this process has read the commit before: a publish plans several times. */
export async function treeOf(deps: Deps, { folder }: GitInput, commit: string): Promise<SourceTree> {
  const state = deps.states.of(folder);
  const kept = state.commits.get(commit);
  const most = mostListed(deps.limits);
  const tree = kept ?? (await loadTree(deps, { folder, state, treeish: `${commit}^{tree}`, most }));
  keepRecent(state.commits, mostCommits, { ...tree, id: commit });
  return tree;
}

/** The base of the run and the tip of a branch. */
const mostCommits = 2;
