import { isDeepStrictEqual } from 'node:util';
import { isTerminal, messageOfTitle, type PublishOptions } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import { resumeTree } from './resume-tree.ts';
import { wakeRun } from './submit-run.ts';

/** @throws EngineError `run_not_found` */
export async function getRun(deps: Pick<EngineDeps, 'redis'>, runId: string): Promise<domain.RunState> {
  const run = await runLog.readRun(deps.redis, runId);
  if (!run) throw new domain.EngineError('run_not_found', `there is no run ${runId}`);
  return run;
}

/** @throws EngineError `run_not_found`, `run_not_open` */
export async function getOpenRun(deps: Pick<EngineDeps, 'redis'>, runId: string): Promise<domain.RunState> {
  const run = await getRun(deps, runId);
  if (run.header.planner === 'open') return run;
  const message = `the run ${runId} takes no calls: it was created with a goal, not as an open run`;
  throw new domain.EngineError('run_not_open', message);
}

/** @throws EngineError `run_not_active`: the run has ended, or its end is decided */
export function assertActive({ id, status, closing }: domain.RunState): void {
  if (closing === undefined && !isTerminal(status) && status !== 'canceling') return;
  throw new domain.EngineError('run_not_active', `the run ${id} is ${closing ? 'ending' : status}`);
}

/**
 * Cancels a run: no step starts any more, running attempts are killed, open approvals close. No-op for a canceled run.
 * @throws EngineError `run_not_found`, `run_not_active` (the run succeeded or failed)
 */
export async function requestCancel(
  deps: Pick<EngineDeps, 'redis' | 'queues' | 'logger' | 'newId' | 'now'>,
  runId: string,
  request: { by: string; message?: string },
): Promise<void> {
  await runLog.retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    if (run.status === 'canceling' || run.status === 'canceled') return true;
    if (isTerminal(run.status)) throw new domain.EngineError('run_not_active', `the run ${runId} is ${run.status}`);
    const appended = await runLog.append(deps, runId, domain.cancelRun(run, request.by, request.message));
    if (!appended.ok) return false;
    await deps.redis.publish(runLog.controlChannel, JSON.stringify({ kind: 'cancel', run_id: runId }));
    await wakeRun(deps, run, run.turn + 1);
    return true;
  });
}

/**
 * Pauses a run: running steps settle, no step starts. No-op for a paused run.
 * @throws EngineError `run_not_found`, `run_not_active`
 */
export async function requestPause(deps: EngineDeps, runId: string, by: string): Promise<void> {
  await runLog.retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    if (run.status === 'paused') return true;
    if (run.status === 'canceling' || isTerminal(run.status)) {
      throw new domain.EngineError('run_not_active', `the run ${runId} is ${run.status}`);
    }
    if (!(await runLog.append(deps, runId, domain.pauseByHand(run, by))).ok) return false;
    await releaseModelWait(deps, run);
    await notifyParent(deps, run);
    return true;
  });
}

/**
 * Resumes a paused run and the paused sub-agents below the run, and grants each limit again. Also resumes a run that waits for sub-agents.
 * A run
 * that waits for a model has the model asked now.
 * @param request.acceptNewVersion continue although the versions of tools changed since the run began
 * @param request.model the model with which the run continues
 * @throws EngineError `run_not_found`, `run_not_paused`, `limit_reached_above`, `tools_changed`, `run_without_model`
 */
export async function requestResume(
  deps: EngineDeps,
  runId: string,
  request: { by: string; acceptNewVersion?: boolean; model?: string | undefined },
): Promise<void> {
  await resumeTree(deps, await getRun(deps, runId), request);
}

/**
 * Requests a publish of the change set.
 * @param request.snapshot the reviewed snapshot; a different current snapshot → `snapshot_changed`
 * @param request.message default: the run's title. Absent fields do not conflict with a publish that is under way
 * @throws EngineError `run_not_found`, `run_not_finished`, `run_not_succeeded`, `snapshot_changed`, `publication_closed`,
 * `publication_pending`, `contended`
 */
export async function requestPublication(
  deps: EngineDeps,
  runId: string,
  request: Omit<Partial<PublishOptions>, 'include_ignored'> & {
    by: string;
    snapshot?: string;
    include_ignored?: boolean;
  },
): Promise<void> {
  await runLog.retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    const transition = await publication(deps, run, request);
    return transition === undefined || recordRequest(deps, run, transition);
  });
}

/** @returns undefined: the same publish is under way or done */
async function publication(
  deps: EngineDeps,
  run: domain.RunState,
  { snapshot, by, include_ignored: asked, ...options }: Parameters<typeof requestPublication>[2],
): Promise<domain.Transition | undefined> {
  const { id } = run;
  if (!isTerminal(run.status)) throw new domain.EngineError('run_not_finished', `the run ${id} is ${run.status}`);
  if (run.status !== 'succeeded')
    throw new domain.EngineError(
      'run_not_succeeded',
      `the run ${id} ${run.status === 'failed' ? 'failed' : `is ${run.status}`}`,
    );
  if (run.parent !== undefined) {
    throw new domain.EngineError('run_not_publishable', `the run ${id} is a sub-agent of ${run.parent.run_id}`);
  }
  if (run.header.dry_run) throw new domain.EngineError('dry_run', `the run ${id} is a dry run: it publishes nothing`);
  if (snapshot !== undefined && snapshot !== run.snapshot) {
    throw new domain.EngineError('snapshot_changed', `the run's final snapshot is ${run.snapshot}`);
  }
  const { publication, publish_request: before } = run;
  if (publication === 'discarding' || publication === 'discarded') {
    throw new domain.EngineError('publication_closed', `the change set of ${id} is ${publication}`);
  }
  const includeIgnored = asked ?? (await runLog.readSpec(deps, run)).publish.include_ignored;
  const isUnderWay = publication === 'requested' || publication === 'parked';
  const isAlike = (before?.include_ignored === true) === includeIgnored;
  const isSame = Object.entries(options).every(([field, value]) =>
    isDeepStrictEqual(before?.[field as keyof PublishOptions], value),
  );
  const isUpToDate = publication === 'published' && before?.snapshot === run.snapshot;
  const isDone = isUpToDate && before?.branch === options.branch && isAlike;
  const pull = options.pull_request;
  if (isDone && (pull === undefined || isDeepStrictEqual(before?.pull_request, pull))) return;
  if (isUnderWay && isSame && isAlike) return;
  if (isUnderWay) throw new domain.EngineError('publication_pending', `a publish of ${id} is ${publication} already`);
  const ignored = includeIgnored ? { include_ignored: true as const } : {};
  return domain.requestPublish(run, { message: messageOfTitle(run.header.title), ...options, ...ignored, by });
}

/**
 * Runs the validators of a succeeded run on its files, and publishes nothing. A run with a publication of any kind stays as it is: its
 * validators have run, or will.
 * @throws EngineError `run_not_found`, `run_not_succeeded`, `contended`
 */
export async function requestValidation(deps: EngineDeps, runId: string, { by }: { by: string }): Promise<void> {
  await runLog.retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    if (run.status !== 'succeeded')
      throw new domain.EngineError('run_not_succeeded', `the run ${runId} is ${run.status}`);
    return run.publication !== 'none' || recordRequest(deps, run, domain.requestValidating(run, by));
  });
}

/**
 * Removes the workspace of a run that has ended. A publish that waits for a decision ends with the workspace. A publish under way may
 * change the source at any moment, so the publish has to end first.
 * @throws EngineError `run_not_found`, `run_not_finished`, `publication_pending`, `fork_pending`, `contended`
 */
export async function requestDiscarding(deps: EngineDeps, runId: string, by: string): Promise<void> {
  await runLog.retryWhileContended(runId, async () => {
    const run = await getRun(deps, runId);
    if (!isTerminal(run.status)) throw new domain.EngineError('run_not_finished', `the run ${runId} is ${run.status}`);
    if (run.publication === 'discarding' || run.publication === 'discarded') return true;
    if (run.publication === 'requested')
      throw new domain.EngineError('publication_pending', `a publish of ${runId} is under way`);
    const waiting = await forksWithoutWorkspace(deps, run);
    if (waiting.length > 0) {
      throw new domain.EngineError('fork_pending', `${waiting.join(', ')} did not take a copy of ${runId} yet`);
    }
    if (!(await recordRequest(deps, run, domain.requestDiscard(run, by)))) return false;
    if (run.publish_approval !== undefined) await runLog.untrackApproval(deps.redis, run.publish_approval);
    return true;
  });
}

/** Forks that still need the workspace of the run they come from. */
async function forksWithoutWorkspace(deps: EngineDeps, run: domain.RunState): Promise<string[]> {
  if (run.forks === 0) return [];
  const prefix = domain.forkField('').name;
  const names = Object.keys(await runLog.readAll(deps.redis, run.id)).filter((name) => name.startsWith(prefix));
  const children = names.map((name) => name.slice(prefix.length));
  const needs = await Promise.all(
    children.map(async (id) => {
      const child = await runLog.readRun(deps.redis, id);
      return child ? child.base === undefined && !isTerminal(child.status) : !domain.isAbandoned(id, deps.now());
    }),
  );
  return children.filter((_, index) => needs[index]);
}

/** @returns false: the run has changed since the caller read the run */
async function recordRequest(deps: EngineDeps, run: domain.RunState, transition: domain.Transition): Promise<boolean> {
  await runLog.trackActive(deps.redis, run.id);
  if (!(await runLog.append(deps, run.id, transition)).ok) return false;
  // Again: a worker that just finished with the run may have removed the run from the index of active runs in between.
  await runLog.trackActive(deps.redis, run.id);
  await deps.queues.wakeWorkspace(run.id).catch((error: unknown) => {
    deps.logger.warn({ run_id: run.id, err: error }, 'the wake-up was not sent; the sweeper will');
  });
  return true;
}

/**
 * Ends the sleep of the next turn of a run that waited for a model until now: its job finds that the turn is not due, and makes room for a
 * later job. A lost wake-up only costs time: a resume sends the wake-up, too.
 */
export async function releaseModelWait(
  { queues, logger }: Pick<EngineDeps, 'queues' | 'logger'>,
  run: Pick<domain.RunState, 'id' | 'turn' | 'model_wait'>,
): Promise<void> {
  if (run.model_wait === undefined) return;
  await queues.releaseTurn(run.id, run.turn + 1).catch((error: unknown) => {
    logger.warn({ run_id: run.id, err: error }, 'a wake-up was not sent; a resume will');
  });
}
