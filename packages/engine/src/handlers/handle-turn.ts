import { defaultTenant, fixedTime, type RunSpec } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import * as jobs from '../jobs/index.ts';
import { append, readRun, readSpec } from '../log/index.ts';
import { inLine, leavePlace, takePlace } from '../places/take-place.ts';
import { planNext, plannerInput, recordPlan } from '../planning/index.ts';
import { prepareRun } from '../preparing/prepare-run.ts';
import type { TurnJob } from '../queues/queues.ts';
import { reconcile } from '../reconcile/reconcile.ts';

/**
 * Plans turn n of a run, once: materialises a missing workspace, asks the planner, records the planner's whole decision, and makes sure
 * that the turn's steps are under way. After each wake-up the handler continues from the log.
 */
export async function handleTurn(deps: WorkerDeps, job: TurnJob, context: jobs.JobContext): Promise<jobs.JobEnd> {
  let run: domain.RunState | undefined;
  try {
    for (let round = 0; round < mostRounds; round++) {
      const found = await readRun(deps.redis, job.run_id);
      if (found !== undefined && !(await takePlace(deps, found))) return inLine(deps, found);
      run = await readStarted(deps, job, found, context);
      const taken = run && (await takeTurn(deps, job, run, context));
      // Every step is under way: reconcile would find nothing to do.
      if (taken === 'under way') return jobs.doneAt(run);
      if (typeof taken === 'object') {
        await leavePlace(deps, job.run_id);
        await reconcile(deps, job.run_id, context.signal);
        return taken;
      }
      if (taken === undefined) break;
    }
  } catch (error) {
    await interrupted(deps, job.run_id, error, context);
  }
  await reconcile(deps, job.run_id, context.signal);
  return jobs.doneAt(run);
}

const mostRounds = 20;

/** The run with the workspace for its first turn; undefined while the workspace has to wait. */
async function readStarted(
  deps: WorkerDeps,
  job: TurnJob,
  run: domain.RunState | undefined,
  context: jobs.JobContext,
): Promise<domain.RunState | undefined> {
  if (run?.status === 'queued') await begin(deps, run, context.signal);
  else if (run?.prepare !== 'due') return run;
  return (await prepareRun(deps, job.run_id, context)) ? readRun(deps.redis, job.run_id) : undefined;
}

/**
 * @returns `again`: this job has more to do. Either a record about the model's context was appended, or an open run received calls just
 * before its wait for calls, and this job is the one those calls need
 */
async function takeTurn(
  deps: WorkerDeps,
  job: TurnJob,
  run: domain.RunState,
  { signal, finish, takesNextStep }: jobs.JobContext,
): Promise<'under way' | 'again' | jobs.JobSleep | undefined> {
  const isWaiting = domain.isWaitingForModel(run);
  if (run.status !== 'running' && !isWaiting) return undefined;
  if (run.restore === 'due' || run.closing !== undefined) return undefined;
  if (run.open > 0 || run.turn !== job.turn - 1) return undefined;
  const notBefore = isWaiting && !run.model_wait?.queued ? Date.parse(run.model_wait?.until ?? '') : 0;
  if (notBefore > deps.now()) return { kind: 'sleep', until: notBefore, seen: run.seq };
  const spec = await readSpec(deps, run);
  const planned = await planNext(deps, run, spec, plannerInput(deps, run, spec), signal);
  if (planned.transition === undefined) return { kind: 'sleep', until: planned.sleepUntil, seen: run.seq };
  const plan = { ...planned, transition: domain.afterModelWait(run, planned.transition) };
  // The run's model has answered: the run works on its files now, or ends.
  if (spec.goal.planner === 'model' && run.parent === undefined) deps.admission?.works(run);
  const appended = await recordPlan(deps, run, plan, { finish, takesNextStep });
  if (appended.ok && planned.sleepUntil !== undefined) {
    return { kind: 'sleep', until: planned.sleepUntil, seen: appended.seq };
  }
  if (appended.ok && planned.again) return 'again';
  if (appended.ok) return planned.nothingElsePending ? 'under way' : undefined;
  // The job has ended: a new job finds the run's next work.
  if (planned.nothingElsePending && finish !== undefined) {
    await countRefused(deps, spec, run, plan.transition);
    return undefined;
  }
  if (spec.goal.planner === 'open') return 'again';
  // A message that arrived while the model decided to end is answered first.
  const now = await readRun(deps.redis, run.id);
  const { unlessHeard } = planned;
  if (unlessHeard !== undefined && now !== undefined && now.messages > run.messages) {
    const heard = await append(deps, run.id, domain.afterModelWait(run, unlessHeard));
    if (heard.ok) return undefined;
  }
  await countRefused(deps, spec, run, plan.transition);
  return undefined;
}

/** The run was paused, ended or steered while the model answered. The provider bills the answer all the same. */
async function countRefused(deps: WorkerDeps, { goal }: RunSpec, run: domain.RunState, { events }: domain.Transition) {
  if (goal.planner !== 'model') return;
  const model = run.model ?? goal.model;
  for (const { type, data } of events) {
    if (type !== 'turn.planned' && type !== 'context.compacted') continue;
    const { usage, answered } = data;
    if (usage === undefined) continue;
    await append(
      deps,
      run.id,
      domain.countUnanswered({ model: answered?.asked ?? model, why: 'superseded', usage, estimated: [] }),
    );
  }
}

async function begin(deps: WorkerDeps, run: domain.RunState, signal: AbortSignal): Promise<void> {
  const { source, modes, prepare } = await readSpec(deps, run);
  const createdAt = modes.deterministic ? fixedTime : undefined;
  const making = { runId: run.id, createdAt, signal, onProgress: reportProgress(deps, run) };
  const beganAt = new Date(deps.now()).toISOString();
  const from = run.forked_from ?? run.parent;
  const { prepared, ...made } =
    from === undefined
      ? await deps.workspaces.materialise({ ...making, source, tenant: run.tenant ?? defaultTenant })
      : await deps.workspaces.fork({ ...making, from: { runId: from.run_id, snapshot: from.snapshot } });
  const toolchains = await deps.executor.toolchains({ runId: run.id, epoch: 1, signal });
  const due = prepare !== undefined && !prepared;
  const about = { ...made, ...(toolchains.length > 0 && { toolchains }), ...(due && { prepare: due }) };
  await append(deps, run.id, domain.startRun({ ...about, began_at: beganAt }));
}

const progressEveryMs = 2000;

/** Records the progress of a long copy. Nothing waits for this record. */
function reportProgress(deps: WorkerDeps, run: domain.RunState): (progress: { files: number; bytes: number }) => void {
  let next = performance.now() + progressEveryMs;
  return (progress) => {
    if (performance.now() < next) return;
    next = performance.now() + progressEveryMs;
    append(deps, run.id, domain.recordProgress(progress)).catch((error: unknown) =>
      deps.logger.warn({ run_id: run.id, err: error }, 'the progress of a copy was not recorded'),
    );
  };
}

/** After an infrastructure error the queue tries again. When no retry is left or useful, the run pauses, so the run is not lost. */
async function interrupted(deps: WorkerDeps, runId: string, error: unknown, context: jobs.JobContext): Promise<void> {
  const reason = jobs.abortReason(context.signal);
  if (reason === 'shutdown') throw new jobs.HandBack();
  if (reason === 'lock-lost') throw error;
  if (reason === 'canceled') return;
  const { problem, retryable } = jobs.readError(error);
  deps.logger.warn({ run_id: runId, err: error }, 'a turn met an infrastructure error');
  // Another worker has the run and its tree now: a pause would stop the other worker.
  const isStale = problem.code === 'ELEASESTALE';
  if ((retryable || isStale) && !context.lastTry) throw error;
  const run = await readRun(deps.redis, runId);
  if (run === undefined) return;
  if (run.status === 'queued' || run.status === 'running' || domain.isWaitingForModel(run))
    await append(deps, runId, domain.pauseRun(run, problem));
}
