import { untilGone } from './gone.ts';
import { childrenOf, isAlive, killGroup, killProcess } from './identity.ts';
import type { ProcessRecords } from './records.ts';

/** Kills every recorded tree of the workspace, whichever worker of this host started it, and waits until nothing of it runs. */
export async function killAll(deps: { records: ProcessRecords }, workspaceId: string): Promise<void> {
  // a tree whose second process is not recorded yet is being set up: its children are asked of the kernel
  const trees = deps.records
    .claim(workspaceId)
    .map((tree) => (tree.length > 1 ? tree : [...tree, ...tree.flatMap((p) => childrenOf(p.pid))]));
  for (const tree of trees) {
    // last first: the end of the namespace's first process is the end of all in it, and its own parent still reaps it
    for (const process of tree.toReversed()) killProcess(process);
    const [leader] = tree;
    if (leader && isAlive(leader)) killGroup(leader.pid);
  }
  await untilGone(trees.flat());
  for (const [first] of trees) if (first) deps.records.remove(workspaceId, first);
}
