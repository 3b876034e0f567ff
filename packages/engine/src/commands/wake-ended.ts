import type { PublicationStatus } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, wakeEnded } from '../domain/index.ts';
import { append, trackActive } from '../log/index.ts';
import { reservePlace } from './reserve-place.ts';
import { toolsToAccept } from './tools-to-accept.ts';

/**
 * Continues a run that has succeeded, with a message for its model: it keeps its conversation and its files. What was published
 * stays; the next publish adds to it.
 * @returns false when another writer changed the run: look again
 * @throws EngineError `run_not_wakeable`, `tools_changed`, `too_many_runs`
 */
export async function wakeSucceeded(
  deps: EngineDeps,
  run: RunState,
  message: { messageId: string; text: string; by: string },
): Promise<boolean> {
  assertWakeable(run);
  await reservePlace(deps, run.id, { tenant: run.tenant, by: run.created_by, again: run.seq });
  const tools = await toolsToAccept(deps, run, false);
  await trackActive(deps.redis, run.id);
  const appended = await append(deps, run.id, wakeEnded(run, { ...message, tools }));
  if (!appended.ok) return false;
  // Again: a worker that just finished with the run may have removed the run from the index of active runs in between.
  await trackActive(deps.redis, run.id);
  await wakeWorkspace(deps, run);
  return true;
}

/** The files come first: the worker of the restore then continues the run. */
const wakeWorkspace = ({ queues, logger }: EngineDeps, { id }: RunState): Promise<void> =>
  queues.wakeWorkspace(id).catch((error: unknown) => {
    logger.warn({ run_id: id, err: error }, 'the wake-up was not sent; the sweeper will');
  });

/** A publish that is under way publishes what was reviewed: the run may not change beneath it. */
const settled: readonly PublicationStatus[] = ['none', 'published', 'failed', 'rejected', 'conflicted'];

function assertWakeable({ id, header, parent, publication }: RunState): void {
  if (header.planner !== 'model') throw notWakeable(`the run ${id} has no model to read the message`);
  if (parent !== undefined) throw notWakeable(`the run ${id} is a sub-agent of ${parent.run_id}`);
  if (!settled.includes(publication)) throw notWakeable(`the change set of ${id} is ${publication}`);
}

const notWakeable = (message: string): EngineError => new EngineError('run_not_wakeable', message);
