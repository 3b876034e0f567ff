import { setTimeout as delay } from 'node:timers/promises';
import { type Driver, SandboxError } from '../tree.ts';
import type { FreezeLock, FreezeLocks } from './freeze-locks.ts';
import type { ProcessRecords } from './records.ts';

export interface FreezeDeps {
  records: ProcessRecords;
  freezeLocks: FreezeLocks;
  driver: Pick<Driver, 'freeze' | 'thaw'>;
}

/** A thaw takes about a millisecond. */
const pollMs = 1;
/** A worker thawing for longer is probably stopped. */
const timeoutMs = 10_000;

/**
 * Runs an action while the labelled commands of a workspace are frozen, whichever worker of this host started them.
 * @param action gets the number of frozen commands. Commands started during the action wait until the action has ended
 */
export async function withFrozen<Result>(
  { records, freezeLocks, driver }: FreezeDeps,
  workspaceId: string,
  action: (frozen: number) => Promise<Result>,
): Promise<Result> {
  // The lock is older than the list of commands: a command recorded as begun later waits for the lock before beginning. Trees before that stay
  // unfrozen: their worker may hold a lock of its own until their set-up is complete.
  const lock = freezeLocks.acquire(workspaceId);
  try {
    await untilThawed(freezeLocks, lock);
    const trees = records.begun(workspaceId);
    if (trees.length > 0) await driver.freeze(trees);
    return await action(trees.length);
  } finally {
    if (freezeLocks.beginThaw(lock)) {
      const abandoned = freezeLocks.abandoned(workspaceId);
      let thawed: readonly string[] = [];
      try {
        const trees = records.begun(workspaceId);
        if (trees.length > 0) await driver.thaw(trees);
        thawed = abandoned;
      } finally {
        freezeLocks.release(lock, thawed);
      }
    }
  }
}

/** Thaws commands left frozen by a dead worker. @returns whether a dead worker had a lock */
export async function thawAbandoned(deps: FreezeDeps, workspaceId: string): Promise<boolean> {
  if (!deps.freezeLocks.hasAbandoned(workspaceId)) return false;
  await withFrozen(deps, workspaceId, async () => {});
  return true;
}

async function untilThawed(freezeLocks: FreezeLocks, lock: FreezeLock): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (freezeLocks.isThawing(lock)) {
    if (performance.now() > deadline) {
      throw new SandboxError('EFREEZEFAILED', 'Another worker has begun to thaw the commands and does not finish.', {
        retryable: true,
        next: 'Check whether a worker of this host is stopped (T in ps). Continue it, or end it.',
      });
    }
    await delay(pollMs);
  }
}
