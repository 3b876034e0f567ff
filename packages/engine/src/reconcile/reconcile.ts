import { isSettled, isTerminal, type RunSpec } from '@holdpoint/contract';
import { failPaused, reportEnd, reportToParent } from '../agents/index.ts';
import { findAnswer } from '../approvals/hold-attempt.ts';
import { judgeStep, pendingApproval, previewCall, requestApproval } from '../approvals/index.ts';
import { judgeInPlace } from '../approvals/judge-step.ts';
import { canRunAhead } from '../approvals/preview-call.ts';
import { isPreviewDue } from '../approvals/result-preview.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { judgeTree } from '../fencing/inspect-tree.ts';
import * as runLog from '../log/index.ts';
import { isInProgress, leavePlace } from '../places/take-place.ts';
import { endTasks, ensureTasks } from './ensure-tasks.ts';
import { mayPublicationSleep, mayStillSleep, mayTurnSleep } from './may-still-sleep.ts';
import { isWaitOver, isWorkspaceDue, releaseUnlessDue } from './release-run.ts';
import { settleWaiting } from './settle-waiting.ts';

const mostRounds = 50;

/**
 * Looks at a run and makes sure that its next work is under way: pending steps pass the gate, queued steps have a job that will run, parked
 * steps a job that sleeps, a settled turn has its successor, a canceled run ends. Idempotent: handlers call `reconcile` after recording an
 * outcome, and the sweeper calls `reconcile` for every active run.
 */
export async function reconcile(deps: WorkerDeps, runId: string, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const run = await runLog.readRun(deps.redis, runId);
    if (!run) {
      if (domain.isAbandoned(runId, deps.now())) await runLog.untrackActive(deps.redis, runId);
      return;
    }
    if ((await advance(deps, run, signal)) === 'settled') {
      if (!isInProgress(run)) await leavePlace(deps, run.id);
      return reportUp(deps, run, signal);
    }
  }
  throw new domain.EngineError('contended', `other writers kept changing the run ${runId}`);
}

/** Reports to the run above. The run above may have to act on the report. */
async function reportUp(deps: WorkerDeps, { id, status, parent }: domain.RunState, signal: AbortSignal): Promise<void> {
  if (parent === undefined || isTerminal(status)) return;
  const isNews = await reportToParent(deps, id);
  // A command may have reported before, and commands do not reconcile: the run above is reconciled here.
  if (isNews || status === 'waiting' || status === 'paused') await reconcile(deps, parent.run_id, signal);
}

/** One round. `again`: something was appended, here or by another writer. */
async function advance(deps: WorkerDeps, run: domain.RunState, signal: AbortSignal): Promise<'settled' | 'again'> {
  switch (run.status) {
    case 'queued':
      await deps.queues.addTurn(run, run.turn + 1);
      return 'settled';
    case 'running':
    case 'waiting':
      // The tree is not yet at the snapshot in the log: nothing starts on the tree.
      if (run.restore === 'due') return ensureWorkspaceJob(deps, run);
      await ensureTasks(deps, run);
      return openTurn(deps, run, signal);
    case 'canceling':
      return closeTurn(deps, run);
    case 'paused':
      if (await failPaused(deps, run)) return 'again';
      return run.restore === 'due' ? ensureWorkspaceJob(deps, run) : 'settled';
    case 'succeeded':
    case 'failed':
    case 'canceled':
      if (run.parent !== undefined && (await reportEnd(deps, run))) await reconcile(deps, run.parent.run_id, signal);
      if (isWorkspaceDue(run)) return ensureWorkspaceJob(deps, run);
      return (await releaseUnlessDue(deps, run)) ? 'settled' : 'again';
    default:
      return run.status satisfies never;
  }
}

/** Due work runs soon. A publish that waits for a decision has a sleeping job. */
async function ensureWorkspaceJob(deps: WorkerDeps, run: domain.RunState): Promise<'settled'> {
  const approval = run.publication === 'parked' ? await pendingApproval(deps, run, run.publish_approval) : undefined;
  if (approval) await deps.queues.addWorkspace(run.id, approval.expiresAt);
  // The decision may have been made in the meantime, and its wake-up sent too early.
  if (!approval || !(await mayPublicationSleep(deps, { run_id: run.id }))) await deps.queues.wakeWorkspace(run.id);
  return 'settled';
}

async function openTurn(deps: WorkerDeps, run: domain.RunState, signal: AbortSignal): Promise<'settled' | 'again'> {
  const steps = run.open === 0 ? [] : await runLog.readTurnSteps(deps.redis, run);
  if (await settleWaiting(deps, run, steps)) return 'again';
  if (run.open === 0) {
    if (run.closing !== undefined) return close(deps, run, run.closing);
    if (run.awaits_calls !== undefined) return endIfIdle(deps, run);
    if (domain.isWaitingForModel(run)) await sleepUntilAsked(deps, run);
    else await deps.queues.addTurn(run, run.turn + 1);
    return 'settled';
  }
  if (steps.some((step) => step.status === 'pending')) {
    const spec = await runLog.readSpec(deps, run);
    const denied = await deniedSteps(deps, run, spec, steps);
    const ready = domain.releasable(steps, ({ id }) => (denied.has(id) ? 'deny' : 'allow'));
    const { now, ahead } = await byJob(deps, run, spec, ready);
    if (now.length > 0) {
      await openGates(deps, run, spec, now, signal);
      return 'again';
    }
    for (const { id } of ahead) {
      await runLog.claimOwner(deps.redis, run.id, [id]);
      await deps.queues.wakeStep(run, id);
    }
  }
  await Promise.all(steps.map((step) => ensureJob(deps, run, step)));
  return 'settled';
}

/** The job of the next turn sleeps until the model is asked again. A run that was resumed in the meantime needs its job now. */
async function sleepUntilAsked(deps: WorkerDeps, run: domain.RunState): Promise<void> {
  const turn = run.turn + 1;
  const until = Date.parse(run.model_wait?.until ?? '');
  // A wrong clock may have delayed the job.
  if (until <= deps.now()) return deps.queues.wakeTurn(run, turn);
  await deps.queues.addTurn(run, turn, until);
  if (!(await mayTurnSleep(deps, { run_id: run.id, turn }, { seen: run.seq }))) {
    await deps.queues.releaseTurn(run.id, turn);
  }
}

/** The planner is done. The run ends when no task is open. */
async function close(deps: WorkerDeps, run: domain.RunState, end: domain.RunEnd): Promise<'settled' | 'again'> {
  if (run.open_tasks === 0) {
    await runLog.append(deps, run.id, domain.finishClosing(run, end));
    return 'again';
  }
  await endTasks(deps, run);
  return 'settled';
}

async function deniedSteps(
  deps: WorkerDeps,
  run: domain.RunState,
  spec: RunSpec,
  steps: readonly domain.StepState[],
): Promise<ReadonlySet<string>> {
  const pending = steps.filter(({ status }) => status === 'pending');
  const verdicts = await Promise.all(pending.map((step) => judgeStep(deps, run, spec, step)));
  return new Set(pending.flatMap(({ id }, index) => (verdicts[index]?.action === 'deny' ? [id] : [])));
}

/**
 * Separates the calls that run on a fork before a person sees them (`ahead`). Such a call takes as long as any call, so its own job opens
 * its gate.
 */
async function byJob(
  deps: WorkerDeps,
  run: domain.RunState,
  spec: RunSpec,
  ready: readonly domain.StepState[],
): Promise<{ now: domain.StepState[]; ahead: domain.StepState[] }> {
  const [now, ahead]: [domain.StepState[], domain.StepState[]] = [[], []];
  for (const step of ready) {
    const { action, preview } = await judgeStep(deps, run, spec, step);
    (action === 'hold' && preview === 'run' && canRunAhead(step) ? ahead : now).push(step);
  }
  return { now, ahead };
}

/**
 * Opens the gate of a pending call whose result has to be shown, in the job of the call's step.
 * @returns `again`: look at the step again. `settled`: the step shows no result, or has to wait
 */
export async function openGateAhead(
  deps: WorkerDeps,
  run: domain.RunState,
  step: domain.StepState,
  signal: AbortSignal,
): Promise<'settled' | 'again'> {
  if ((run.status !== 'running' && run.status !== 'waiting') || run.restore === 'due') return 'settled';
  const spec = await runLog.readSpec(deps, run);
  const steps = await runLog.readTurnSteps(deps.redis, run);
  const denied = await deniedSteps(deps, run, spec, steps);
  const ready = domain
    .releasable(steps, ({ id }) => (denied.has(id) ? 'deny' : 'allow'))
    .filter(({ id }) => id === step.id);
  const { ahead } = await byJob(deps, run, spec, ready);
  if (ahead.length === 0) return 'settled';
  await openGates(deps, run, spec, ahead, signal);
  return 'again';
}

async function openGates(
  deps: WorkerDeps,
  run: domain.RunState,
  spec: RunSpec,
  steps: domain.StepState[],
  signal: AbortSignal,
): Promise<void> {
  // A look and a preview show the files of the tree. On a wrong tree a person would see files other than the files of the decision.
  const verdicts = await Promise.all(steps.map((step) => judgeStep(deps, run, spec, step)));
  const looks = steps.some(({ call }, index) => call.looks || verdicts[index]?.action === 'hold');
  if (looks && (await judgeTree(deps, run)) !== 'sound') return;
  await requestApproval(deps, run, async (open) => {
    const gates = await Promise.all(
      steps.map(async (step): Promise<domain.Gate> => {
        const verdict = await judgeInPlace(deps, run, step, signal);
        const { action, reason } = verdict;
        if (action === 'deny') {
          const { id: step_id, call } = step;
          const denied = { event: 'call_denied', run_id: run.id, step_id, tool: call.tool, rule: verdict.rule?.name };
          deps.logger.warn(denied, `the gate denied a call: ${reason}`);
          return { step, action, verdict };
        }
        if (action === 'allow') return { step, action, reason };
        const shown = await previewCall(deps, run, step, signal, verdict.preview);
        const answer = await findAnswer(deps, run, step, { verdict, shown }, signal);
        if (answer === undefined) return { step, action, verdict, ...(await open(verdict)), ...shown };
        return { step, action: 'answer', verdict, ...answer, ...(await open(verdict, 'answered')), ...shown };
      }),
    );
    return domain.gateSteps(run, gates);
  });
}

/** Adds the job for a step's state. */
async function ensureJob(deps: WorkerDeps, run: domain.RunState, step: domain.StepState): Promise<void> {
  switch (step.status) {
    case 'queued':
    case 'running':
      await runLog.claimOwner(deps.redis, run.id, [step.id]);
      return deps.queues.wakeStep(run, step.id);
    case 'deferred':
      if (await isWaitOver(deps, run, step)) return deps.queues.wakeStep(run, step.id);
      return putToSleep(deps, run, step, Date.parse(step.deferred?.until ?? ''));
    case 'parked':
    case 'indeterminate': {
      const approval =
        step.approval === undefined ? undefined : await runLog.readApproval(deps.redis, run.id, step.approval);
      const expiresAt = approval === undefined ? undefined : Date.parse(approval.request.expires_at);
      // A wrong clock may have delayed the job.
      const isDue = (expiresAt !== undefined && expiresAt <= deps.now()) || (approval && isPreviewDue(run, approval));
      if (isDue) return deps.queues.wakeStep(run, step.id);
      return putToSleep(deps, run, step, expiresAt);
    }
    default:
      return;
  }
}

/** A step that was woken or settled in the meantime gets no other wake-up, so its job is released. */
async function putToSleep(
  deps: WorkerDeps,
  run: domain.RunState,
  { id }: domain.StepState,
  notBefore: number | undefined,
): Promise<void> {
  await deps.queues.addStep(run, id, notBefore);
  if (!(await mayStillSleep(deps, { run_id: run.id, step_id: id }))) await deps.queues.releaseStep(id);
}

/** Settles the steps that will not run any more. A running attempt settles when its worker receives the cancel. */
async function closeTurn(deps: WorkerDeps, run: domain.RunState): Promise<'settled' | 'again'> {
  await ensureTasks(deps, run);
  if (run.open === 0) {
    if (run.open_tasks > 0) return 'settled';
    await runLog.append(deps, run.id, domain.finishCancel(run));
    return 'again';
  }
  const steps = (await runLog.readTurnSteps(deps.redis, run)).filter((step) => !isSettled(step.status));
  const idle = steps.filter((step) => step.status !== 'running');
  for (const step of idle) {
    const approval = await pendingApproval(deps, run, step.approval);
    const appended = await runLog.append(deps, run.id, domain.cancelStep(step, approval !== undefined));
    if (!appended.ok) continue;
    if (step.approval !== undefined) await runLog.untrackApproval(deps.redis, step.approval);
    await deps.queues.wakeStep(run, step.id);
  }
  if (idle.length > 0) return 'again';
  await Promise.all(steps.map((step) => deps.queues.wakeStep(run, step.id)));
  return 'settled';
}

/** Ends an open run after too long a wait for calls. The waiting run has no job: the sweep finds the run. */
async function endIfIdle(deps: WorkerDeps, run: domain.RunState): Promise<'settled' | 'again'> {
  const { idle_s } = (await runLog.readSpec(deps, run)).limits;
  const since = Date.parse(run.awaits_calls ?? '');
  if (deps.now() - since < idle_s * 1000) return 'settled';
  await runLog.append(
    deps,
    run.id,
    domain.endIdle(run, {
      code: 'idle',
      message: `The open run received no calls for ${idle_s} s, which is its limit.`,
      next: 'Retry the run to send it more calls; its files are as they were.',
    }),
  );
  return 'again';
}
