import * as contract from '@holdpoint/contract';
import { openHosts } from '@holdpoint/policy';
import { modelOfRun, modelRefused } from '../agents/model-of-run.ts';
import { judgeBegun } from '../approvals/judge-step.ts';
import { approvedResult, dropResult } from '../approvals/result-preview.ts';
import { captureCall, dropChanges, seedOf, tookSince } from '../calls/capture-call.ts';
import { appendForTheRecord, openConnectionRecorder } from '../calls/record-connections.ts';
import { type ModelUseRecorder, openModelUseRecorder } from '../calls/record-model-use.ts';
import { reportGraphProgress } from '../calls/report-graph-progress.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { abortReason, HandBack, type JobContext, leaveIfAborted, readError } from '../jobs/index.ts';
import { fromPayload, readSpec, readStep, toResult } from '../log/index.ts';
import { openPast } from '../queries/past-calls.ts';
import { beginTask } from '../tasks/begin-task.ts';
import { openTaskHandle } from '../tasks/task-handle.ts';
import { answerable, answeredBy, asksPerson, isTaskWait, toQuestion } from './asked-person.ts';
import { awaitedBy, taskAwaited, toWait, waitsOutside } from './awaited-outside.ts';
import type { Interruption } from './recover-attempt.ts';

/** How a call ended: with an outcome and a snapshot, with a wait for a task, a person or the other side of the call, or without a known outcome. */
export type Executed =
  /** `outside`: what still works outside for the call, which has ended. */
  | { kind: 'result'; result: domain.AttemptResult; outside?: domain.OutsideState | undefined }
  | { kind: 'deferred'; until: number; taskId: string; created?: domain.AttemptResult['created'] }
  | { kind: 'waits'; wait: domain.NewWait }
  | { kind: 'held'; verdict: contract.Verdict }
  | { kind: 'asked'; asked: domain.NewQuestion & { verdict: contract.Verdict } }
  | { kind: 'indeterminate'; interruption: Interruption };

/** Makes the call of a recorded attempt. Records nothing but connections. */
export async function runAttempt(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  context: JobContext,
): Promise<Executed> {
  const startedAt = performance.now();
  let neverBegan: true | undefined = true;
  try {
    const writes = domain.mayWrite(step);
    if (writes) {
      const writer = domain.heads.attempt(step.id, step.attempt);
      await deps.workspaces.admit({ runId: run.id, epoch: run.lease, after: run.head, writer });
    }
    const taskId = step.task ?? deps.newId('task');
    const verdict = await judgeBegun(deps, run, step, context.signal);
    if (verdict.action === 'hold') return { kind: 'held', verdict };
    neverBegan = undefined;
    const modelUse = openModelUseRecorder(deps, run.id, step);
    const shown = verdict.action === 'deny' ? undefined : await approvedResult(deps, run, step);
    if (shown !== undefined) return { kind: 'result', result: await applied(deps, run, step, shown) };
    await dropResult(deps, run, step);
    const made =
      verdict.action === 'deny'
        ? denied(verdict)
        : await answerable(deps, run, step, {
            verdict,
            made: await withAllowedModel(deps, run, await makeCall(deps, run, step, { taskId, modelUse, context })),
          });
    leaveIfAborted(context.signal);
    const canceled = abortReason(context.signal) === 'canceled' ? await whyCanceled(deps, run, step) : undefined;
    if (isTaskWait(made) && canceled?.of !== 'step') {
      const { on, until } = made;
      if ('task_id' in on) return { kind: 'deferred', until, taskId: on.task_id };
      // An earlier attempt began the task: a step begins at most one task.
      if (step.task !== undefined) return { kind: 'deferred', until, taskId };
      return { kind: 'deferred', until, taskId, created: await beginTask(deps, step, taskId, on.task) };
    }
    const ended = endOf(made, canceled?.error);
    // The blob of a large result is written in parallel with the snapshot. A failed write throws at `await value`.
    const value = ended.value === undefined ? undefined : toResult(deps.blobs, ended.value as contract.Json);
    value?.catch(() => {});
    const long = ended.long && toResult(deps.blobs, ended.long as contract.Json);
    long?.catch(() => {});
    const contents = keepContents(deps, ended);
    contents?.catch(() => {});
    const keepsFiles = canceled?.of !== 'run';
    const { outcome, snapshot } =
      writes && keepsFiles ? await captureCall(deps, run, step, ended) : { outcome: ended, snapshot: undefined };
    if (writes && !keepsFiles) await dropSecrets(deps, run);
    const taken = snapshot && { ...snapshot, parent: run.snapshot ?? '' };
    if (waitsOutside(made) && canceled === undefined && outcome === ended)
      return { kind: 'waits', wait: { ...(await toWait(deps, made)), snapshot: taken } };
    if (asksPerson(made) && canceled === undefined && outcome === ended) {
      return { kind: 'asked', asked: { ...(await toQuestion(deps, made.on)), verdict, snapshot: taken } };
    }
    // A call that wrote a secret counts as failed, even when a cancel ended the call.
    const isCanceled = canceled !== undefined && outcome === ended;
    const error = outcome.status === 'succeeded' ? undefined : outcome.error;
    const spec = await readSpec(deps, run);
    const begun =
      outcome.status === 'succeeded' && canceled === undefined && step.task === undefined ? outcome.task : undefined;
    return {
      kind: 'result',
      outside: waitsOutside(made) ? (await toWait(deps, made)).outside : canceled && step.deferred?.outside,
      result: {
        attempt: step.attempt,
        status: isCanceled ? 'killed' : outcome.status,
        value: await value,
        long: await long,
        error: isCanceled ? canceled.error : error,
        instead: outcome.status === 'succeeded' && isLeftOut(spec, step) ? 'dry_run' : undefined,
        duration_ms: tookSince(spec, startedAt),
        capabilities: outcome.capabilities,
        ...modelUse.result(),
        command: ended.command,
        contents: await contents,
        snapshot: taken,
        created: begun && (await beginTask(deps, step, taskId, begun)),
      },
    };
  } catch (error) {
    if (error instanceof contract.ForbiddenChange)
      return { kind: 'result', result: takenBack(step, error, tookSince(await readSpec(deps, run), startedAt)) };
    const reason = abortReason(context.signal);
    // The worker that took over decides about this attempt. A worker that shuts down leaves the attempt to the next worker.
    if (reason === 'lock-lost') throw error;
    if (reason === 'shutdown') throw new HandBack();
    const { problem, retryable } = readError(error);
    return { kind: 'indeterminate', interruption: { reason: problem, retryable, error, neverBegan } };
  }
}

type Ended = Exclude<contract.ToolOutcome, { status: 'deferred' }>;

/** A call that waits has no outcome, unless a cancel ended it. */
function endOf(made: contract.ToolOutcome, canceled: contract.Problem | undefined): Ended {
  if (made.status !== 'deferred') return made;
  if (canceled === undefined && waitsOutside(made)) return { status: 'succeeded', value: undefined, touched: [] };
  return asksPerson(made) && canceled === undefined
    ? { status: 'succeeded', value: undefined, touched: made.touched }
    : { status: 'failed', error: canceled ?? runCanceled };
}

/** Contents are on disk before the event that names them. */
function keepContents(
  { blobs }: WorkerDeps,
  { contents = [] }: Ended,
): Promise<domain.AttemptResult['contents']> | undefined {
  if (contents.length === 0) return undefined;
  return Promise.all(contents.map(async (one) => ({ sha256: await blobs.put(one), bytes: one.length })));
}

/** Distinguishes a canceled run, whose files are dropped, from a canceled call, whose run continues with the files that the call left. */
async function whyCanceled(
  deps: WorkerDeps,
  run: domain.RunState,
  { id, attempt }: domain.StepState,
): Promise<{ of: 'run' | 'step'; error: contract.Problem }> {
  const found = await readStep(deps.redis, run.id, id);
  const isOver = found === undefined || found.run.status === 'canceling' || contract.isTerminal(found.run.status);
  if (isOver || found.step.cancel === undefined) return { of: 'run', error: runCanceled };
  return { of: 'step', error: domain.canceledError({ ...found.step, status: 'running', attempt }) };
}

const runCanceled: contract.Problem = { code: 'ECANCELED', message: 'The run was canceled.' };

/** Applies the result that a person saw and approved. Nothing runs again. */
async function applied(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  shown: contract.ResultPreview,
): Promise<domain.AttemptResult> {
  const { snapshot, base, files_changed, skipped, status, value, error, capabilities, duration_ms } = shown;
  await deps.workspaces.applyPreview({ runId: run.id, epoch: run.lease, snapshot });
  return {
    ...{ attempt: step.attempt, status, error, capabilities, duration_ms },
    value: value === null ? undefined : await toResult(deps.blobs, value),
    snapshot: { snapshot, parent: base, files_changed, skipped },
  };
}

/**
 * The call changed protected files of its run. No snapshot includes the call, and its outcome requests a new tree: no change of the call
 * remains, and none of the background commands running at the same time, since a command may have made the change.
 */
const takenBack = (
  { attempt }: domain.StepState,
  { paths }: contract.ForbiddenChange,
  duration_ms: number,
): domain.AttemptResult => ({
  attempt,
  status: 'failed',
  error: domain.forbiddenChange(paths),
  duration_ms,
  restore: true,
});

const denied = (verdict: contract.Verdict): contract.ToolOutcome => ({
  status: 'failed',
  error: domain.denialOf(verdict, 'attempt'),
  touched: [],
});

/** Fails a call that begins a sub-agent with a model that the run does not name. */
async function withAllowedModel(
  deps: WorkerDeps,
  run: domain.RunState,
  outcome: contract.ToolOutcome,
): Promise<contract.ToolOutcome> {
  const task =
    outcome.status === 'succeeded'
      ? outcome.task
      : outcome.status === 'deferred' && 'task' in outcome.on
        ? outcome.on.task
        : undefined;
  const error = task && (await modelRefused(deps, run, task));
  if (error === undefined) return outcome;
  return { status: 'failed', error, touched: outcome.status === 'succeeded' ? outcome.touched : undefined };
}

/** @param over what to let go of, where the call has ended; then no connection is recorded */
export async function makeCall(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  {
    taskId,
    modelUse,
    context: { signal },
    over,
  }: { taskId: string; modelUse?: ModelUseRecorder; context: Pick<JobContext, 'signal'>; over?: domain.OutsideState },
): Promise<contract.ToolOutcome> {
  const spec = domain.asPlanned(await readSpec(deps, run), step.call);
  const args = await fromPayload(deps.blobs, step.args);
  if (isLeftOut(spec, step)) return notMade(step, args);
  await using connections = openConnectionRecorder({
    stepId: step.id,
    attempt: step.attempt,
    append: (transition) => appendForTheRecord(deps, run.id, transition),
  });
  return await deps.executor.execute(
    { toolset: run.header.toolset, tool: step.call.tool, args },
    {
      runId: run.id,
      stepId: step.id,
      attempt: step.attempt,
      epoch: run.lease,
      taskId,
      tasks: openTaskHandle(deps, run, step, signal),
      deferred: taskAwaited(step),
      awaited: await awaitedBy(deps, step, over),
      answered: await answeredBy(deps, step),
      beside: domain.runsBeside(step) || undefined,
      depth: run.parent?.depth ?? 0,
      maxDepth: spec.limits.max_depth,
      model: modelOfRun(deps, run, spec),
      needsPrice: spec.limits.max_cost_usd !== undefined || undefined,
      wallMs: spec.limits.step_wall_s * 1000,
      limits: spec.limits.command ?? {},
      past: openPast(deps, run, step),
      settings: spec.settings,
      network: spec.network,
      readOnly: contract.readsOnly(spec.modes),
      reads: step.call.reads,
      dryRun: spec.modes.dry_run,
      snapshot: run.snapshot ?? '',
      permissions: spec.permissions,
      seed: seedOf(spec, step.call),
      scope: domain.scopeOf(run, spec),
      approved: step.approved_snapshot !== undefined,
      granted: grantedHosts(deps, run, step, args),
      openHosts: (rules) => openHosts(spec, rules),
      onConnection: over === undefined ? connections.record : () => {},
      onModelUse: modelUse?.record ?? (async () => {}),
      onGraphProgress: reportGraphProgress(deps, run, step),
      signal,
    },
  );
}

/** In a dry run an effect outside of the workspace is described, not made. */
const isLeftOut = ({ modes }: contract.RunSpec, { effect }: domain.StepState): boolean =>
  modes.dry_run && effect === 'external';

const notMade = ({ call: { tool } }: domain.StepState, args: contract.Json): contract.ToolOutcome => ({
  status: 'succeeded',
  value: {
    dry_run: true,
    not_made: { tool, args },
    note: 'A dry run makes no external effect, so there is no result.',
  },
  touched: [],
});
/** A canceled call leaves its tree without a snapshot, and may leave secrets that its commands wrote. */
async function dropSecrets(deps: WorkerDeps, run: domain.RunState): Promise<void> {
  const { secrets = [] } = await readSpec(deps, run);
  if (secrets.length > 0) await dropChanges(deps, run);
}

/**
 * The hosts that a person approved for a call. They are open for this call only, in a run with a network or for a tool with network rules.
 */
function grantedHosts(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  args: contract.Json,
): readonly string[] {
  if (step.approved_snapshot === undefined) return [];
  const described = deps.catalog.describe({ toolset: run.header.toolset, tool: step.call.tool, args, network: true });
  return described.ok ? (described.touches?.hosts ?? []) : [];
}
