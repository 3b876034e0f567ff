import type { PostedCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { type CallCancel, fromPayload, readCallCancels, readReceived } from '../log/index.ts';

/** Calls that an open run received together. */
export interface Received {
  number: number;
  /** The ids of the future steps. */
  steps: readonly string[];
  calls: readonly PostedCall[];
  concurrent?: true | undefined;
  /** The calls that a caller canceled before their turn. */
  canceled?: ReadonlyMap<string, CallCancel> | undefined;
}

/** The oldest waiting calls; undefined when no calls wait. */
export async function nextReceived(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  run: RunState,
): Promise<Received | undefined> {
  if (run.taken >= run.received) return undefined;
  const number = run.taken + 1;
  const found = await readReceived(deps.redis, run.id, number);
  if (found?.calls === undefined) throw new TypeError(`the log of ${run.id} does not say which calls ${number} are`);
  const { steps, concurrent, calls } = found;
  const canceled = await readCallCancels(deps.redis, run.id, steps);
  return { number, steps, concurrent, canceled, calls: await fromPayload(deps.blobs, calls) };
}
