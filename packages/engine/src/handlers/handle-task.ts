import { ForbiddenChange, isIdOf, isTaskOver, isTerminal, readsOnly, type TaskOutcome } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import { meetsApproved, refuseChanged, settleCall } from '../attempts/index.ts';
import { dropChanges, dropped, secretWritten, tookSince } from '../calls/capture-call.ts';
import { appendForTheRecord, openConnectionRecorder } from '../calls/record-connections.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { guardTree } from '../fencing/inspect-tree.ts';
import { abortReason, done, doneAt, type JobContext, type JobEnd, lockLost, readError } from '../jobs/index.ts';
import { append, fromPayload, readRun, readSpec, readStep, readTask } from '../log/index.ts';
import type { TaskJob } from '../queues/queues.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { mergeAgent } from '../supervising/merge-agent.ts';
import { superviseAgent } from '../supervising/supervise-agent.ts';
import { readInputs } from '../tasks/read-inputs.ts';

const mostRounds = 20;
/** Time to the next try while another writer keeps the task from taking a snapshot. */
const waitMs = 500;
/** Time to the next try when the other writer is a task: a capture is short. */
const captureMs = 50;

/**
 * Advances a task as far as possible now: runs its command, captures the command's changes in a snapshot, and records a command of a lost
 * worker as lost. After each wake-up the handler continues from the log.
 */
export async function handleTask(deps: WorkerDeps, job: TaskJob, context: JobContext): Promise<JobEnd> {
  for (let round = 0; round < mostRounds; round++) {
    const [run, task] = await Promise.all([
      readRun(deps.redis, job.run_id),
      readTask(deps.redis, job.run_id, job.task_id),
    ]);
    if (!run || !task) return doneAt(run);
    if (isTaskOver(task.status)) {
      await reconcile(deps, run.id, context.signal);
      return done;
    }
    if (task.about.kind === 'agent') {
      const end =
        task.status === 'capturing'
          ? await mergeAgent(deps, run, task, context)
          : await superviseAgent(deps, run, task, context);
      // The wake-up for the merge of a just ended sub-agent had no effect, because this job still exists.
      if (end === 'again' || (await isCapturing(deps, job, end))) continue;
      return end;
    }
    // In the first round a running command was lost, because its job was just delivered. In a later round this handler has lost the job.
    if (round > 0 && task.status === 'running') {
      throw new domain.EngineError('superseded', `another worker took over the task ${task.id}`);
    }
    const end = await move(deps, run, task, context);
    if (end !== 'again') return end;
  }
  return sleep(deps);
}

const isCapturing = async (deps: WorkerDeps, { run_id, task_id }: TaskJob, end: JobEnd): Promise<boolean> =>
  end.kind === 'done' && (await readTask(deps.redis, run_id, task_id))?.status === 'capturing';

const sleep = (deps: WorkerDeps, ms = waitMs): JobEnd => ({ kind: 'sleep', until: deps.now() + ms });

async function move(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  const isEnding = run.status === 'canceling' || isTerminal(run.status);
  switch (task.status) {
    case 'queued':
      if (task.kill !== undefined || isEnding) {
        await append(deps, run.id, domain.endTask(task, domain.killedOutcome(whoKilled(task))));
        return 'again';
      }
      // A resume or a restore wakes the task.
      if (run.status === 'paused' || run.restore === 'due') return doneAt(run);
      return start(deps, run, task, context);
    case 'running':
      return lost(deps, run, task, isEnding);
    case 'capturing':
      return capture(deps, run, task, { ...context, isEnding });
    default:
      return 'again';
  }
}

async function start(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  context: JobContext,
): Promise<JobEnd | 'again'> {
  const tree = await guardTree(deps, run, { id: task.id }, context);
  if (tree === 'moved') return 'again';
  if (tree === 'lost') {
    await reconcile(deps, run.id, context.signal);
    return doneAt(run);
  }
  if (!(await meetsApproved(deps, run, task))) {
    await append(deps, run.id, refuseChanged(task));
    return 'again';
  }
  // Nothing may stand between the start in the log and in the tree: a call in the meantime would find the tree behind its log.
  const begun = await readStep(deps.redis, run.id, task.about.step_id);
  const started = await append(deps, run.id, domain.startTask(run, task, deps.workerId));
  if (!started.ok) return 'again';
  const startedAt = performance.now();
  const result = await execute(deps, run, { task, isPlanning: begun?.step.call.planning === true }, context);
  const reason = abortReason(context.signal);
  if (reason === 'lock-lost') throw lockLost();
  if (task.about.approved_snapshot !== undefined) await settleCall(deps, task, run.id);
  const timed = { ...result, duration_ms: tookSince(await readSpec(deps, run), startedAt) };
  if (result.status === 'lost') {
    // The command is dead and its worker is alive: the tree stays, and the next snapshot includes the command's changes.
    await append(deps, run.id, domain.endTask({ ...task, status: 'running' }, { ...timed, status: 'lost' }));
    return 'again';
  }
  await append(deps, run.id, domain.exitTask(task, { ...timed, status: result.status }));
  return 'again';
}

async function execute(
  deps: WorkerDeps,
  run: domain.RunState,
  { task, isPlanning }: { task: domain.TaskState; isPlanning: boolean },
  { signal }: JobContext,
): Promise<domain.TaskResult | ReturnType<typeof domain.lostOutcome>> {
  const spec = await fromPayload(deps.blobs, task.about.spec);
  if (!('command' in spec)) throw new TypeError(`the task ${task.id} has no command`);
  const runSpec = await readSpec(deps, run);
  const { limits, network, modes } = runSpec;
  const output = deps.outputs.open(task.id);
  try {
    await deps.workspaces.admit({
      runId: run.id,
      epoch: run.lease,
      after: run.head,
      writer: domain.heads.task(task.id),
    });
    await using connections = await openRecorder(deps, run, task);
    const end = await deps.executor.runTask(spec, {
      runId: run.id,
      taskId: task.id,
      epoch: run.lease,
      output,
      inputs: (ended) => readInputs(deps, { run_id: run.id, task_id: task.id, after: run.seq }, ended),
      wallMs: Math.min(spec.timeout_ms ?? Number.POSITIVE_INFINITY, limits.task_wall_s * 1000),
      limits: limits.command ?? {},
      network,
      readOnly: readsOnly(modes) || isPlanning,
      seed: modes.deterministic ? 'background' : undefined,
      scope: domain.scopeOf(run, runSpec),
      onConnection: connections.record,
      onBegun: () => void settleCallOnBegin(deps, run, task, signal),
      signal,
    });
    if (end.status !== 'killed') return end;
    return killed(deps, run, task, signal);
  } catch (error) {
    if (abortReason(signal) !== undefined) return killed(deps, run, task, signal);
    const { problem } = readError(error);
    deps.logger.warn(
      { run_id: run.id, task_id: task.id, err: error },
      'a background command met an infrastructure error',
    );
    return { status: 'failed', exit_code: null, reason: problem };
  } finally {
    await output.close();
  }
}

/**
 * Settles the call of an approved command, so that the run continues. After an error of Redis the call settles at the end of the command.
 */
async function settleCallOnBegin(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  signal: AbortSignal,
): Promise<void> {
  if (task.about.approved_snapshot === undefined) return;
  try {
    await settleCall(deps, task, run.id);
    await reconcile(deps, run.id, signal);
  } catch (error) {
    deps.logger.warn({ run_id: run.id, task_id: task.id, err: error }, 'the call of a command that has begun is open');
  }
}

/** The connections of a task are recorded with the step that began the task. */
async function openRecorder(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState) {
  const found = await readStep(deps.redis, run.id, task.about.step_id);
  return openConnectionRecorder({
    stepId: task.about.step_id,
    attempt: found?.step.attempt ?? 0,
    append: (transition) => appendForTheRecord(deps, run.id, transition),
  });
}

/** The reason of the kill: a request, the shutdown of the worker, or a new tree. */
async function killed(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState, signal: AbortSignal) {
  const now = await readTask(deps.redis, run.id, task.id);
  const reason = abortReason(signal);
  if (now?.kill !== undefined || reason === 'canceled') return domain.killedOutcome(whoKilled(now ?? task));
  if (reason === 'shutdown') return domain.lostOutcome(`Its worker ${deps.workerId} was shut down while it ran.`);
  return domain.lostOutcome(
    'Every process of the workspace was ended, because the workspace was brought back to a snapshot.',
  );
}

const whoKilled = ({ kill }: domain.TaskState) => ({
  code: 'EKILLED',
  message:
    kill === undefined
      ? 'The run was canceled or has ended, and its background commands with it.'
      : `${kill} ended the task.`,
});

/** The worker is presumed dead: the command is dead or killed now, and the tree is rebuilt. */
async function lost(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  isEnding: boolean,
): Promise<JobEnd | 'again'> {
  await deps.executor.killTask(run.id, task.id);
  const message = `Its worker ${task.worker ?? ''} was lost while it ran.`;
  if (isEnding) {
    await append(deps, run.id, domain.endTask(task, domain.lostOutcome(message)));
    return 'again';
  }
  const appended = await append(deps, run.id, domain.loseTask(run, task, message));
  // A step is changing the tree: try again later.
  return appended.ok ? 'again' : sleep(deps);
}

/** Captures the command's changes in the run's snapshot, when no other writer is changing the tree. */
async function capture(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  { isEnding, ...context }: JobContext & { isEnding: boolean },
): Promise<JobEnd | 'again'> {
  const outcome = task.outcome;
  if (outcome === undefined) throw new TypeError(`the task ${task.id} has no outcome`);
  const { status, ...rest } = outcome;
  if (isEnding) {
    await append(deps, run.id, domain.endTask(task, { ...rest, status: status as domain.TaskResult['status'] }));
    return 'again';
  }
  if (task.epoch !== run.lease || run.restore === 'due') {
    const message =
      'It had ended, but its changes were dropped: the workspace was brought back to an earlier snapshot.';
    await append(deps, run.id, domain.endTask(task, domain.lostOutcome(message)));
    return 'again';
  }
  // A step that Redis lost may have written to the same tree: the step's changes must not become part of the snapshot.
  if ((await guardTree(deps, run, { id: task.id }, context)) !== 'sound') return 'again';
  const held = await append(deps, run.id, domain.holdForCapture(run, task));
  if (!held.ok) return sleep(deps, isIdOf('task', held.actual ?? '') ? captureMs : waitMs);
  const taken = await takeSnapshot(deps, run, { ...task, outcome });
  if (taken instanceof ForbiddenChange) {
    const refused = await append(deps, run.id, domain.dropCapture(run, task, domain.forbiddenChange(taken.paths)));
    return refused.ok ? 'again' : sleep(deps);
  }
  const { ended, snapshot } = taken;
  // A refusal means that an approved call became the writer in the meantime: try again after the call.
  const captured = await append(deps, run.id, domain.captureTask(run, ended, snapshot));
  return captured.ok ? 'again' : sleep(deps);
}

/** A command that wrote a secret's value into a file has failed, and its changes are not stored. */
async function takeSnapshot(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState & { outcome: TaskOutcome }) {
  const parent = run.snapshot ?? '';
  const spec = await readSpec(deps, run);
  try {
    const snapshot = await deps.workspaces.snapshot({
      ...{ runId: run.id, epoch: run.lease, parent, scope: domain.scopeOf(run, spec), forbids: forbiddenPaths(spec) },
      message: spec.modes.deterministic ? 'background command' : `background command (${task.id})`,
    });
    return { ended: task, snapshot };
  } catch (error) {
    if (error instanceof ForbiddenChange) return error;
    const { problem } = readError(error);
    if (problem.code !== secretWritten) throw error;
    await dropChanges(deps, run);
    const reason = { ...problem, message: dropped(problem.message) };
    const ended = { ...task, outcome: { ...task.outcome, status: 'failed' as const, reason } };
    return { ended, snapshot: { snapshot: parent, files_changed: 0, skipped: 0 } };
  }
}
