import { isAlive } from '@holdpoint/process';
import { childrenOf, killGroup, killProcesses } from '../kill.ts';
import type { Driver } from '../tree.ts';
import type { FreezeLocks } from './freeze-locks.ts';
import type { ProcessRecords } from './records.ts';
import { untilGone } from './until-gone.ts';

/**
 * Kills all recorded trees of the workspace, from every worker of this host, and waits until all processes have ended.
 * @param label only trees with this label
 */
export async function killAll(
  deps: { records: ProcessRecords; freezeLocks: FreezeLocks; driver: Driver },
  workspaceId: string,
  label?: string,
): Promise<void> {
  const claimed = deps.records.claim(workspaceId, label);
  // A tree without a recorded second process is still in its set-up, so the kernel is asked for its children.
  const trees = claimed.map((tree) =>
    tree.length > 1 ? tree : [...tree, ...tree.flatMap(({ pid }) => childrenOf(pid))],
  );
  for (const tree of trees) {
    // In reverse order: the end of the namespace's first process ends all others, and the parent is still alive to reap the first process.
    killProcesses(tree.toReversed());
    const [leader] = tree;
    if (leader && isAlive(leader)) killGroup(leader.pid);
  }
  if (label === undefined) deps.freezeLocks.revokeAll(workspaceId);
  await untilGone(trees.flat());
  // A bubblewrap killed during its set-up may leave its first process behind.
  const orphans = deps.driver.findOrphans();
  killProcesses(orphans);
  await untilGone(orphans);
  for (const [first] of trees) if (first) deps.records.remove(workspaceId, first);
}
