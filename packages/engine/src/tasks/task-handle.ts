import { setTimeout as delay } from 'node:timers/promises';
import * as contract from '@holdpoint/contract';
import { findKind } from '../agents/find-kind.ts';
import { secretWritten, snapshotMessage } from '../calls/capture-call.ts';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import { EngineError, type RunState, requestKill, type StepState, scopeOf, type TaskState } from '../domain/index.ts';
import { readError } from '../jobs/index.ts';
import { append, controlChannel, readRun, readSpec, readTask, readTasks, retryWhileContended } from '../log/index.ts';
import type { WorkspacePort } from '../ports/index.ts';
import { sendTaskInput } from './send-input.ts';

const killPatienceMs = 10_000;
const lookEveryMs = 20;

/** Gives one call access to the tasks of its run. */
export function openTaskHandle(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): contract.TaskHandle {
  const get = async (taskId: string): Promise<contract.TaskView | undefined> => {
    const task = await readTask(deps.redis, run.id, taskId);
    return task && viewTask(deps, task);
  };
  return {
    get,
    async list() {
      const tasks = await readTasks(deps.redis, run.id);
      return Promise.all(tasks.map((task) => viewTask(deps, task)));
    },
    output: (taskId, at) => deps.outputs.read(taskId, at),
    async kill(taskId) {
      const task = await readTask(deps.redis, run.id, taskId);
      if (!task) return undefined;
      await requestTaskKill(deps, run.id, taskId, `${step.call.tool} (${step.id})`);
      const deadline = performance.now() + killPatienceMs;
      for (;;) {
        const view = await get(taskId);
        if (!view || contract.isTaskOver(view.status) || performance.now() > deadline) return view;
        await delay(lookEveryMs, undefined, { signal });
      }
    },
    send: (taskId, input) => sendTaskInput(deps, { run_id: run.id, step, task_id: taskId }, input, signal),
    merge: (taskId) => merge(deps, run, step, taskId),
    agentKind: (name) => findKind(deps, run, name, signal),
    previewMerge: (taskId) => previewMerge(deps, run, taskId),
  };
}

/** @returns a task, with the run of a sub-agent */
async function viewTask(deps: Pick<WorkerDeps, 'redis'>, task: TaskState): Promise<contract.TaskView> {
  const { kind, title, child, agent } = task.about;
  const run = child === undefined ? undefined : await readRun(deps.redis, child);
  return {
    id: task.id,
    kind,
    title,
    agent,
    status: task.status,
    outcome: task.outcome && contract.isTaskOver(task.status) ? withoutStatus(task.outcome) : undefined,
    child: run && { run_id: run.id, status: run.status },
    created_at: task.created_at,
    started_at: task.started_at,
    ended_at: task.ended_at,
  };
}

const withoutStatus = <Outcome extends { status: unknown }>({ status, ...rest }: Outcome): Omit<Outcome, 'status'> =>
  rest;

async function merge(deps: WorkerDeps, run: RunState, step: StepState, taskId: string): Promise<contract.MergeResult> {
  const found = await findMerge(deps, run, taskId);
  if (found.status === 'refused') return found;
  const spec = await readSpec(deps, run);
  const message = snapshotMessage(spec, step, taskId);
  const mergeNow = async (): Promise<contract.MergeResult> => {
    const now = { ...((await readRun(deps.redis, run.id)) ?? run), lease: run.lease };
    const { merged } = await mergeFrozen(deps, now, { from: found.from, spec, message });
    if (merged.status !== 'merged') return merged;
    const { status, paths, left_out } = merged;
    return { status, paths, left_out };
  };
  try {
    return await deps.workspaces.withFrozen(run.id, mergeNow);
  } catch (error) {
    // A running command wrote a secret's value, so its files cannot be kept, and nothing can be merged with them.
    const { problem } = readError(error);
    if (problem.code === secretWritten) return { status: 'refused', problem };
    throw error;
  }
}

/** The preview of a merge for the deciding person. */
export async function previewMerge(
  deps: Pick<WorkerDeps, 'redis' | 'workspaces' | 'catalog'>,
  run: RunState,
  taskId: string,
): Promise<contract.MergePreview> {
  const found = await findMerge(deps, run, taskId);
  if (found.status === 'refused') return found;
  const { runId, snapshot, base } = found.from;
  const content = await deps.workspaces.contentOf({ runId, from: base, to: snapshot });
  return { status: 'ready', run_id: runId, snapshot, ...content };
}

/**
 * Records that a task has to end. The whole process tree of a background command dies soon after; a sub-agent is canceled. No-op for an
 * ended task.
 * @throws EngineError `task_not_found`
 */
export async function requestTaskKill(
  deps: Pick<EngineDeps, 'redis' | 'queues' | 'logger' | 'newId' | 'now'>,
  runId: string,
  taskId: string,
  by: string,
): Promise<void> {
  await retryWhileContended(taskId, async () => {
    const task = await readTask(deps.redis, runId, taskId);
    if (!task) throw new EngineError('task_not_found', `the run ${runId} has no task ${taskId}`);
    if (contract.isTaskOver(task.status) || task.kill !== undefined) return true;
    return (await append(deps, runId, requestKill(task, by))).ok;
  });
  try {
    await deps.redis.publish(controlChannel, JSON.stringify({ kind: 'kill', run_id: runId, task_id: taskId }));
    await deps.queues.wakeTask(runId, taskId);
  } catch (error) {
    deps.logger.warn({ run_id: runId, task_id: taskId, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}

interface From {
  runId: string;
  snapshot: string;
  base: string;
}

/** The source of a sub-agent's merge, or the reason why no merge is possible. */
export async function findMerge(
  deps: Pick<WorkerDeps, 'redis' | 'catalog'>,
  run: RunState,
  taskId: string,
): Promise<{ status: 'ready'; from: From } | Refused> {
  const task = await readTask(deps.redis, run.id, taskId);
  const child = task?.about.child === undefined ? undefined : await readRun(deps.redis, task.about.child);
  if (!task || task.about.child === undefined) {
    return refuse(
      'ENOTASK',
      `${taskId} is no sub-agent of this run.`,
      'Use the task_id that the call of the sub-agent returned.',
    );
  }
  if (!child || !contract.isTerminal(child.status)) {
    const { waits } = deps.catalog.taskTools(run.header.toolset);
    const next = waits === undefined ? 'Wait until the sub-agent has ended.' : `Wait for the sub-agent with ${waits}.`;
    return refuse('ETASKRUNNING', `The sub-agent ${taskId} is not over, so there is nothing to merge yet.`, next);
  }
  const { parent, snapshot } = child;
  if (child.status !== 'succeeded' || parent === undefined || snapshot === undefined) {
    return refuse(
      'ETASKFAILED',
      `The sub-agent ${taskId} ${child.status}: its changes are not merged.`,
      'Begin the sub-agent again.',
    );
  }
  if (child.publication === 'discarded' || child.publication === 'discarding') {
    return refuse(
      'ETASKDISCARDED',
      `The workspace of the sub-agent ${taskId} was discarded.`,
      'Begin the sub-agent again.',
    );
  }
  return { status: 'ready', from: { runId: child.id, snapshot, base: parent.snapshot } };
}

/** Merges into the tree of a run whose commands are frozen. The merge includes the files that background commands have written so far. */
export async function mergeFrozen(
  { workspaces }: Pick<WorkerDeps, 'workspaces'>,
  run: RunState,
  { from, spec, message, forbids }: Merge,
) {
  const tree = { runId: run.id, epoch: run.lease };
  const parent = run.snapshot ?? '';
  const ours =
    run.uncaptured === 0
      ? { snapshot: parent, files_changed: 0, skipped: 0 }
      : await workspaces.snapshot({ ...tree, parent, message, scope: scopeOf(run, spec), forbids });
  const merged = await workspaces.merge({ ...tree, parent: ours.snapshot, from, message });
  return { ours, merged };
}

interface Merge {
  from: From;
  spec: contract.RunSpec;
  message: string;
  forbids?: Parameters<WorkspacePort['snapshot']>[0]['forbids'];
}

type Refused = Extract<contract.MergeResult, { status: 'refused' }>;

function refuse(code: string, message: string, next: string): Refused {
  return { status: 'refused', problem: { code, message, next } satisfies contract.Problem };
}
