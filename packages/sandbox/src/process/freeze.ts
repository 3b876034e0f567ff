import { setTimeout as delay } from 'node:timers/promises';
import { SandboxError } from '../errors.ts';
import type { Driver } from '../tree.ts';
import type { Hold, Holds } from './holds.ts';
import type { ProcessRecords } from './records.ts';

export interface FreezeDeps {
  records: ProcessRecords;
  holds: Holds;
  driver: Pick<Driver, 'freeze' | 'thaw'>;
}

/** Letting commands go on takes about a millisecond. */
const LOOK_MS = 1;
/** Who takes so long was stopped himself. */
const PATIENCE_MS = 10_000;

/**
 * Acts while the labelled commands of a workspace stand still, whichever worker of this host started them.
 * @param act gets their number: those that begin later wait until it has ended
 */
export async function frozen<Result>(
  { records, holds, driver }: FreezeDeps,
  workspaceId: string,
  act: (frozen: number) => Promise<Result>,
): Promise<Result> {
  // Before it looks what runs: what is recorded later waits, before it begins, until nobody holds it.
  const hold = holds.place(workspaceId);
  try {
    await untilAwake(holds, hold);
    const trees = records.labelled(workspaceId);
    if (trees.length > 0) await driver.freeze(trees);
    return await act(trees.length);
  } finally {
    if (holds.beginWaking(hold)) {
      const abandoned = holds.abandoned(workspaceId);
      let woken: readonly string[] = [];
      try {
        const trees = records.labelled(workspaceId);
        if (trees.length > 0) await driver.thaw(trees);
        woken = abandoned;
      } finally {
        holds.end(hold, woken);
      }
    }
  }
}

/** Wakes what a worker that died has left frozen. @returns whether there was such a worker */
export async function wakeAbandoned(deps: FreezeDeps, workspaceId: string): Promise<boolean> {
  if (!deps.holds.areAbandoned(workspaceId)) return false;
  await frozen(deps, workspaceId, async () => {});
  return true;
}

async function untilAwake(holds: Holds, hold: Hold): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (holds.areWaking(hold)) {
    if (performance.now() > deadline) {
      throw new SandboxError('EFREEZEFAILED', 'Another worker has begun to let the commands go on, and does not end.', {
        retryable: true,
        next: 'Look whether a worker of this host is stopped (T in ps): let it go on, or end it.',
      });
    }
    await delay(LOOK_MS);
  }
}
