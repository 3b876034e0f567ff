import { createHash } from 'node:crypto';
import type { PublicationStatus } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, recordMessage, wakeEnded } from '../domain/index.ts';
import { append, idempotencyKey, readFields, retryWhileContended, trackActive } from '../log/index.ts';
import { reservePlace } from './reserve-place.ts';
import { toolsToAccept } from './resume-tree.ts';
import { getRun } from './steer-run.ts';
import { idempotencySpace } from './submit-run.ts';

/**
 * Continues a run that has succeeded, with a message for its model: it keeps its conversation and its files. What was published
 * stays; the next publish adds to it.
 * @returns false when another writer changed the run: look again
 * @throws EngineError `run_not_wakeable`, `tools_changed`, `too_many_runs`
 */
async function wakeSucceeded(
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

/**
 * Sends a message to a run. When the call returns, the message is in the log. A model reads the message before its next turn, and cannot
 * end the run earlier. A scripted plan reads no messages.
 * @param message.key a repeated key sends the message only once
 * @param message.id an id that was chosen before, in the place of a key: a repeated id sends the message only once, at any time
 * @param message.wake continue a run that has succeeded
 * @throws EngineError `run_not_found`, `run_not_active`, `run_not_wakeable`, `idempotency_key_reused`
 */
export async function sendMessage(
  deps: EngineDeps,
  runId: string,
  message: {
    text: string;
    by: string;
    key?: string | undefined;
    id?: string | undefined;
    wake?: boolean | undefined;
  },
): Promise<{ messageId: string; created: boolean }> {
  const { text, by, key, id, wake = false } = message;
  const messageId = id ?? (await reserve(deps, runId, message));
  let created = false;
  await retryWhileContended(runId, async () => {
    const known = key === undefined && id === undefined ? {} : await readFields(deps.redis, runId, [messageId]);
    if (known[messageId]) return true;
    const run = await getRun(deps, runId);
    if (wake && run.status === 'succeeded') {
      created = await wakeSucceeded(deps, run, { messageId, text, by });
      return created;
    }
    if (run.closing !== undefined || run.ended_at !== undefined || run.status === 'canceling') {
      throw new EngineError('run_not_active', `the run ${runId} is ${run.closing ? 'ending' : run.status}`);
    }
    const appended = await append(deps, runId, recordMessage(run, { messageId, text, by }));
    created = appended.ok;
    return appended.ok;
  });
  return { messageId, created };
}

const window = 24 * 3600;

/** Reserves the id of a message, so that a client that lost the answer gets the same message again. */
async function reserve(
  deps: EngineDeps,
  runId: string,
  { text, key }: { text: string; key?: string | undefined },
): Promise<string> {
  const fresh = deps.newId('message');
  if (key === undefined) return fresh;
  const digest = (value: string): string => createHash('sha256').update(value).digest('hex');
  const place = idempotencyKey(digest(`${idempotencySpace()}\n${runId}\n${key}`));
  const entry = `${digest(text)} ${fresh}`;
  if (await deps.redis.set(place, entry, 'EX', window, 'NX')) return fresh;
  const [said, id] = ((await deps.redis.get(place)) ?? entry).split(' ');
  if (said !== digest(text)) {
    throw new EngineError('idempotency_key_reused', 'this Idempotency-Key was used for another message');
  }
  return id ?? fresh;
}
