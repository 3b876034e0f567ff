import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';
import { childrenOf, killGroup, killProcesses } from '../kill.ts';
import type { Driver } from '../tree.ts';
import type { FreezeLocks } from './freeze-locks.ts';
import type { ProcessRecords } from './records.ts';

/** Most processes are gone within 0.1 ms; the shortest timer takes more than 1 ms. */
const immediateLooks = 10;
/** A killed process still alive after this time hangs in a disk or network call. */
const timeoutMs = 10_000;

/**
 * Resolves when none of the processes runs. The kernel reports only the end of the worker's own children, so `untilGone` polls: a few times
 * at once, then after 1, 2, 4 … 50 ms. Throws `SandboxError` EKILLFAILED after 10 s.
 */
export async function untilGone(processes: readonly ProcessIdentity[]): Promise<void> {
  let left = processes.filter(isAlive);
  for (let looks = 0; left.length > 0 && looks < immediateLooks; looks++) {
    await next();
    left = left.filter(isAlive);
  }
  let waited = 0;
  for (let pause = 1; left.length > 0; pause = Math.min(pause * 2, 50)) {
    if (waited > timeoutMs) {
      throw new SandboxError(
        'EKILLFAILED',
        `Processes ${left.map((p) => p.pid).join(', ')} did not end after SIGKILL.`,
        {
          retryable: true,
          next: 'Check their state with ps (D: they hang in a disk or network call).',
        },
      );
    }
    await delay(pause);
    waited += pause;
    left = left.filter(isAlive);
  }
}

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
