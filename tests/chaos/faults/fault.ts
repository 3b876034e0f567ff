import type { AppProcess } from '../../harness/processes.ts';
import type { System } from '../../harness/system.ts';
import type { Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';

export interface FaultDeps {
  system: System;
  /** By place. A worker with a failed start is missing. */
  workers: (AppProcess | undefined)[];
  startWorker(place: number): Promise<AppProcess>;
  /** The file with the milliseconds added to the clock of the worker at this place. */
  clockFile(place: number): string;
  random: Random;
  ledger: Ledger;
  /** The lock of a dead holder expires after this time. */
  lockMs: number;
}

/** Injects a fault, and does the repairs of a supervisor or an operator. */
export type Fault = (deps: FaultDeps) => Promise<void>;

export async function restartWorker(deps: FaultDeps, place: number): Promise<void> {
  deps.workers[place] = await deps.startWorker(place);
}

/** Restarts dead processes, as a supervisor does: Redis first, because the others need Redis. */
export async function restartDead(deps: FaultDeps): Promise<void> {
  const { system, workers } = deps;
  if (!system.redis.isAlive()) await system.redis.start();
  if (!system.api.isAlive()) await system.api.start();
  for (const [place, worker] of workers.entries()) if (worker?.isAlive() === false) await restartWorker(deps, place);
}
