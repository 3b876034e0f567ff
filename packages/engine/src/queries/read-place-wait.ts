import { readStanding } from '../admission/admission.ts';
import type { EngineDeps } from '../deps.ts';
import { isWaitingForModel, type RunState } from '../domain/index.ts';
import { isInProgress } from '../places/take-place.ts';

/** The reason why a run waits in line. */
export interface PlaceWait {
  /** Runs of the same tenant before this run. */
  ahead: number;
  /** The number of runs of all tenants with a place of the awaited kind. `of`: the cap. */
  inProgress: number;
  of: number;
}

/** @returns undefined when the run waits for no place */
export async function readPlaceWait(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: RunState,
): Promise<PlaceWait | undefined> {
  const mayStand = (isInProgress(run) || isWaitingForModel(run)) && run.parent === undefined && run.open === 0;
  if (!mayStand) return undefined;
  const { awaits, ahead, working, asking } = await readStanding(redis, run.id);
  if (awaits === undefined) return undefined;
  const isForModel = awaits === 'asking' || (awaits === 'both' && working.used < working.of);
  const { used, of } = isForModel ? asking : working;
  return { ahead, inProgress: used, of };
}
