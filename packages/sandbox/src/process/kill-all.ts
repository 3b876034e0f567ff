import { isAlive } from '@holdpoint/process';
import { childrenOf, killGroup, killProcesses } from '../kill.ts';
import type { Driver } from '../tree.ts';
import type { FreezeLocks } from './freeze-locks.ts';
import type { ProcessRecords } from './records.ts';
import { untilGone } from './until-gone.ts';

/**
 * Kills every recorded tree of the workspace, whichever worker of this host started it, and waits until no process of it runs.
 * @param label only those with this label
 */
export async function killAll(
  deps: { records: ProcessRecords; freezeLocks: FreezeLocks; driver: Driver },
  workspaceId: string,
  label?: string,
): Promise<void> {
  const claimed = deps.records.claim(workspaceId, label);
  // A tree without a recorded second process is still in its set-up. The kernel lists its children.
  const trees = claimed.map((tree) =>
    tree.length > 1 ? tree : [...tree, ...tree.flatMap(({ pid }) => childrenOf(pid))],
  );
  for (const tree of trees) {
    // In reverse order: the namespace's first process takes all others with it, and its parent is still there to reap it.
    killProcesses(tree.toReversed());
    const [leader] = tree;
    if (leader && isAlive(leader)) killGroup(leader.pid);
  }
  if (label === undefined) deps.freezeLocks.revokeAll(workspaceId);
  await untilGone(trees.flat());
  // Processes that a bubblewrap killed during its set-up left behind.
  const orphans = deps.driver.findOrphans();
  killProcesses(orphans);
  await untilGone(orphans);
  for (const [first] of trees) if (first) deps.records.remove(workspaceId, first);
}
