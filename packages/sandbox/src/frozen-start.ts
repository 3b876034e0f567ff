import { type FreezeDeps, withFrozen } from './process/index.ts';
import type { WorkspaceMount } from './tree.ts';

/** Starts a sandbox. The result has `settled` for the end of the set-up. */
export type FrozenStart = <Started extends { readonly settled: Promise<void> }>(
  workspace: WorkspaceMount,
  start: () => Started,
) => Started | Promise<Started>;

/** Whether a folder of the source lies below folders of the tree, so a command can move these folders. */
export const isNested = ({ sourceFolders = [] }: Pick<WorkspaceMount, 'sourceFolders'>): boolean =>
  sourceFolders.some(({ path }) => path.includes('/'));

/**
 * Keeps the background commands of a workspace frozen during the set-up of a sandbox with mounts below folders of the tree. A command could
 * replace a folder by a link, and bubblewrap would make the missing mount point at the link's target. Other set-ups start at once.
 */
export const frozenStart =
  (deps: FreezeDeps): FrozenStart =>
  (workspace, start) => {
    if (!isNested(workspace)) return start();
    const started = Promise.withResolvers<ReturnType<typeof start>>();
    withFrozen(deps, workspace.id, async () => {
      const made = start();
      started.resolve(made);
      await made.settled;
    }).catch(started.reject);
    return started.promise;
  };
