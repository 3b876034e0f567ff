import { isAlive } from '@holdpoint/process';
import type { Driver } from '../tree.ts';
import { untilGone } from './gone.ts';
import type { Holds } from './holds.ts';
import { childrenOf, killGroup, killProcesses } from './kill.ts';
import type { ProcessRecords } from './records.ts';

/**
 * Kills every recorded tree of the workspace, whichever worker of this host started it, and waits until nothing of it runs.
 * @param label only those with this label
 */
export async function killAll(
  deps: { records: ProcessRecords; holds: Holds; driver: Driver },
  workspaceId: string,
  label?: string,
): Promise<void> {
  const claimed = deps.records.claim(workspaceId, label);
  // a tree whose second process is not recorded yet is being set up: its children are asked of the kernel
  const trees = claimed.map((tree) =>
    tree.length > 1 ? tree : [...tree, ...tree.flatMap(({ pid }) => childrenOf(pid))],
  );
  for (const tree of trees) {
    // last first: the end of the namespace's first process is the end of all in it, and its own parent still reaps it
    killProcesses(tree.toReversed());
    const [leader] = tree;
    if (leader && isAlive(leader)) killGroup(leader.pid);
  }
  if (label === undefined) deps.holds.revoke(workspaceId);
  await untilGone(trees.flat());
  // what a bubblewrap that died while it set up has left, now that it has lost its parent
  const orphans = deps.driver.findOrphans();
  killProcesses(orphans);
  await untilGone(orphans);
  for (const [first] of trees) if (first) deps.records.remove(workspaceId, first);
}
