import { type FreezeDeps, withFrozen } from './process/index.ts';
import type { WorkspaceMount } from './tree.ts';

/** Starts something that has a set-up. */
export type FrozenStart = <Started extends { readonly settled: Promise<void> }>(
  workspace: WorkspaceMount,
  start: () => Started,
) => Started | Promise<Started>;

/** Whether a folder of the source lies below folders that a command can move. */
export const isNested = ({ sourceFolders = [] }: Pick<WorkspaceMount, 'sourceFolders'>): boolean =>
  sourceFolders.some(({ path }) => path.includes('/'));

/**
 * Keeps the background commands of a workspace frozen while a sandbox is set up whose mounts lie below its folders. A command could exchange
 * such a folder for a link, and bubblewrap would make the missing mount point where the link leads. Other set-ups start at once.
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
