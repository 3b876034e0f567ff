import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerDeps } from '../deps.ts';
import { distrustTree, type RunState } from '../domain/index.ts';
import { type JobContext, pauseOrRetry } from '../jobs/index.ts';
import { append, countRepair, readRun, readStep } from '../log/index.ts';
import type { TreeState } from '../ports/index.ts';

/** A writer changes the head of the tree right after recording the change: in between tree and log differ for a moment. */
const patienceMs = 1000;
const lookEveryMs = 10;

interface TreeUser {
  /** The id of a step or a task. */
  id: string;
  /** The user is about to be admitted as the writer. */
  writes?: boolean;
}

/**
 * Compares the tree with the log. A difference counts when the difference persists while the log does not change.
 * @param user the step or task that is about to use the tree
 * @returns `moved`: the log changed, so the caller has to look at the run again
 */
export async function inspectTree(
  deps: WorkerDeps,
  run: RunState,
  user?: TreeUser,
): Promise<TreeState | { status: 'moved' }> {
  const isShared = run.open_tasks > 0 || (await isWriting(deps, run, user?.id));
  // No snapshot has the changes of a background command before their capture.
  const forWriter = user?.writes === true && run.uncaptured === 0;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { id: runId, lease: epoch, head: writer, snapshot = '' } = run;
    const state = await deps.workspaces.inspect({ runId, epoch, writer, snapshot, isShared, forWriter });
    if (state.status === 'sound' || state.reason !== 'log_went_back') return state;
    const now = await readRun(deps.redis, run.id);
    if (now?.head !== run.head || now.lease !== run.lease) return { status: 'moved' };
    if (performance.now() > deadline) return state;
    await delay(lookEveryMs);
  }
}

/** Whether another step may be changing the files now. A decided step has the writer's place before it starts. */
async function isWriting(deps: WorkerDeps, run: RunState, id: string | undefined): Promise<boolean> {
  if (run.writer === '' || run.writer === id) return false;
  return (await readStep(deps.redis, run.id, run.writer))?.step.status === 'running';
}

/**
 * Whether the tree may be used. When the tree is lost, the log records the reason: then a new tree is due, and nothing starts before.
 * @returns `moved`: look at the run again
 */
export async function judgeTree(deps: WorkerDeps, run: RunState, user?: TreeUser): Promise<'sound' | 'moved' | 'lost'> {
  const state = await inspectTree(deps, run, user);
  if (state.status !== 'lost') return state.status;
  const { reason, detail } = state;
  const appended = await append(deps, run.id, distrustTree(run, { reason, detail }));
  if (appended.ok) {
    const fields = { run_id: run.id, epoch: run.lease, reason, detail };
    deps.logger.warn(fields, 'the tree of a run differs from its log: a new tree is made from the snapshot');
    await countRepair(deps, reason);
  }
  return 'lost';
}

/** Like `judgeTree`, for a job: when the tree cannot be inspected and a retry is useless, the run pauses. */
export async function guardTree(
  deps: WorkerDeps,
  run: RunState,
  user: TreeUser,
  context: JobContext,
): Promise<'sound' | 'moved' | 'lost'> {
  try {
    return await judgeTree(deps, run, user);
  } catch (error) {
    return pauseOrRetry(deps, run, error, context);
  }
}
