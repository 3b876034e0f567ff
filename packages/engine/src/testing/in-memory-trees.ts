import type { PublishPlan } from '@holdpoint/contract';
import type { WorkspacePort } from '../ports/index.ts';
import type { Faults } from './faults.ts';

/** Workspaces in memory: a tree holds one entry per writing call that is visible in it. */
export interface InMemoryTrees {
  workspaces: WorkspacePort;
  /** Content of the first run's workspace. */
  tree: string[];
  treeOf(runId: string): string[];
  /** As in a real workspace, a call on a tree that was taken over fails. */
  current(runId: string, epoch: number): void;
  /** Runs without a tree. */
  dropped: Set<string>;
  /** Results that were shown and neither applied nor dropped. */
  previews: Set<string>;
  /** Snapshots that reached the source. */
  published: string[];
}

export function openInMemoryTrees(faults: Faults): InMemoryTrees {
  const tree: string[] = [];
  const published: string[] = [];
  const snapshots = new Map<string, string[]>([[emptyTree, []]]);
  const trees = new Map<string, string[]>();
  const treeOf = (runId: string): string[] => {
    const known = trees.get(runId) ?? (trees.size === 0 ? tree : []);
    trees.set(runId, known);
    return known;
  };
  const epochs = new Map<string, number>();
  /** The writer that was let at each tree last, as on disk: it stays when the log goes back. */
  const admitted = new Map<string, string>();
  const dropped = new Set<string>();
  const previews = new Set<string>();
  const current = (runId: string, epoch: number): void => {
    if (epoch !== (epochs.get(runId) ?? 1)) {
      throw Object.assign(new Error('another worker took over'), { code: 'ELEASESTALE', retryable: false });
    }
  };
  const bringTo = (runId: string, snapshot: string): void => {
    const content = snapshots.get(snapshot);
    if (!content) throw new Error(`there is no snapshot ${snapshot}`);
    treeOf(runId).splice(0, Number.POSITIVE_INFINITY, ...content);
  };
  const keep = (content: readonly string[]): string => {
    const id = snapshots.size.toString(16).padStart(40, '0');
    snapshots.set(id, [...content]);
    return id;
  };
  const workspaces: WorkspacePort = {
    async materialise({ runId }) {
      bringTo(runId, emptyTree);
      return made(emptyTree);
    },
    async fork({ runId, from }) {
      bringTo(runId, from.snapshot);
      return made(from.snapshot);
    },
    async inspect({ runId, epoch, writer }) {
      if (faults.tree !== undefined && epoch === 1) return { status: 'lost', reason: faults.tree, detail: 'asked for' };
      const isSame = epoch === (epochs.get(runId) ?? 1) && writer === (admitted.get(runId) ?? '');
      return isSame ? { status: 'sound' } : { status: 'lost', reason: 'log_went_back', detail: 'another writer' };
    },
    async admit({ runId, after, writer }) {
      if (after !== (admitted.get(runId) ?? '')) throw Object.assign(new Error('moved'), { code: 'EHEADMOVED' });
      admitted.set(runId, writer);
    },
    newestEpoch: async (runId) => epochs.get(runId) ?? 1,
    async snapshot({ runId, epoch }) {
      current(runId, epoch);
      return { snapshot: keep(treeOf(runId)), files_changed: 1, skipped: 0 };
    },
    withFrozen: async (_runId, act) => {
      await faults.freeze?.();
      return act();
    },
    async differenceFrom({ runId, epoch, decided }) {
      current(runId, epoch);
      const before = snapshots.get(decided) ?? [];
      const now = treeOf(runId);
      if (before.length === now.length && before.every((entry, at) => entry === now[at])) return undefined;
      const changes = now
        .filter((entry) => !before.includes(entry))
        .map((path) => ({ path, change: 'added' as const }));
      return { snapshot: keep(now), files_changed: changes.length, skipped: 0, changes, total: changes.length };
    },
    killAll: async () => {},
    restore: async ({ runId, epoch, snapshot }) => {
      current(runId, epoch);
      dropped.delete(runId);
      bringTo(runId, snapshot);
    },
    async takeOver({ runId, epoch, snapshot }) {
      epochs.set(runId, epoch);
      admitted.set(runId, '');
      dropped.delete(runId);
      bringTo(runId, snapshot);
    },
    async merge({ runId, epoch, parent, from }) {
      current(runId, epoch);
      const conflicts = faults.mergeConflict?.(from.runId) ?? [];
      if (conflicts.length > 0)
        return { status: 'conflict', conflicts: conflicts.map((path) => ({ path, reason: 'both' })) };
      const base = snapshots.get(from.base)?.length ?? 0;
      const changed = (snapshots.get(from.snapshot) ?? []).slice(base);
      // As a workspace does: the tree is brought to what was merged.
      bringTo(runId, parent);
      treeOf(runId).push(...changed);
      return { status: 'merged', snapshot: keep(treeOf(runId)), paths: changed };
    },
    hiddenFiles: async () => ({ unknown: [], repositories: [] }),
    async contentOf({ from, to }) {
      const changed = (snapshots.get(to) ?? []).slice(snapshots.get(from)?.length ?? 0);
      return {
        changes: changed.map((path) => ({ path, change: 'added' })),
        total: changed.length,
        patch: '',
        cut: false,
      };
    },
    applyPrepared: async () => undefined,
    keepPrepared: async () => false,
    markPrepared: async () => {},
    keepPreview: async ({ from: { snapshot } }) => void previews.add(snapshot),
    async applyPreview({ runId, epoch, snapshot }) {
      current(runId, epoch);
      bringTo(runId, snapshot);
      previews.delete(snapshot);
    },
    dropPreviews: async ({ snapshot }) => void (snapshot === undefined ? previews.clear() : previews.delete(snapshot)),
    async planPublish({ snapshot, resolutions }) {
      const settled = Array.isArray(resolutions) && resolutions.length > 0;
      const conflicts = faults.conflict && !settled ? [conflict] : [];
      const { source = 0, unpublishable = [] } = faults;
      return {
        candidate: snapshot,
        digest: `${source}`,
        conflicts,
        unpublishable,
        secrets: [],
        plan: planOf(snapshot),
      };
    },
    async publish({ snapshot, expect }) {
      if (expect !== `${faults.source ?? 0}`) return { status: 'moved' };
      published.push(snapshot);
      return {
        status: 'published',
        published: { type: 'directory', path: '/source', files_written: 1, files_deleted: 0, left_out: [] },
      };
    },
    discard: async () => {},
    hasTree: async (runId) => !dropped.has(runId),
    dropTree: async ({ runId, epoch }) => {
      epochs.set(runId, epoch);
      dropped.add(runId);
    },
    collect: async () => {},
    tidy: async () => [],
  };
  return { workspaces, tree, treeOf, current, dropped, published, previews };
}

const emptyTree = '0'.repeat(40);

const planOf = (candidate: string): PublishPlan => ({
  ...{ target: { type: 'directory', path: '/source' }, candidate, files: [], left_out: [], conflicts: [], digest: '' },
});

const conflict = { path: 'a', reason: 'changed_in_source' as const, detail: 'The file changed.', resolvable: true };

const made = (snapshot: string) => ({
  ...{ snapshot, base: emptyTree, base_commit: null },
  ...{ files: 0, bytes: 0, skipped: 0, submodules: [] },
});
