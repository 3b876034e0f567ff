import { toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import { limitReached } from '../domain/limits-reached.ts';
import { hasNetwork, type RunSpec } from '../domain/run-spec.ts';
import type { RunState } from '../domain/state.ts';
import { changedTools, toolsChanged } from '../domain/tool-versions.ts';
import { planTurn, type TurnStep, type Word } from '../domain/transitions/plan-turn.ts';
import { closeRun, endRun, pauseRun, type RunEnd, recordProgress, startRun } from '../domain/transitions/run-life.ts';
import type { Problem } from '../domain/vocabulary.ts';
import { stuck, watchTurn } from '../domain/watch.ts';
import { append } from '../log/append.ts';
import { claimOwner } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { readRun } from '../log/read-state.ts';
import type { PlannedCall, PlannerDecision } from '../ports.ts';
import type { TurnJob } from '../queues/queues.ts';
import { plannerInput } from './history.ts';
import { readError } from './infrastructure-error.ts';
import { abortReason, done, HandBack, type JobContext, type JobEnd } from './job.ts';
import { settleForward } from './settle-forward.ts';

/**
 * Plans turn n of a run, once: makes the workspace if there is none, asks the planner, records its whole decision, and makes sure that
 * its steps are under way. Woken again at any point, it goes on from what the log says.
 */
export async function handleTurn(deps: WorkerDeps, job: TurnJob, context: JobContext): Promise<JobEnd> {
  try {
    await takeTurn(deps, job, context);
  } catch (error) {
    await interrupted(deps, job.run_id, error, context);
  }
  await settleForward(deps, job.run_id, context.signal);
  return done;
}

async function takeTurn(deps: WorkerDeps, job: TurnJob, { signal }: JobContext): Promise<void> {
  let run = await readRun(deps.redis, job.run_id);
  if (!run) return;
  if (run.status === 'queued') {
    await begin(deps, run, signal);
    run = await readRun(deps.redis, job.run_id);
  }
  if (run?.status !== 'running' || run.restore === 'due' || run.closing !== undefined) return;
  if (run.open > 0 || run.turn !== job.turn - 1) return;
  const spec = await readSpec(deps, run);
  const versions = deps.catalog.versions(spec.toolset);
  const reason = limitReached(run, spec, deps.now()) ?? toolsChanged(changedTools(run, spec, versions));
  if (reason !== undefined) return pause(deps, run, reason);
  const input = plannerInput(deps, run, spec);
  // A plan may well say the same again and again; only a model can be lost in it.
  const watch = spec.task.planner === 'model' ? watchTurn(run.watch, await input.previous()) : undefined;
  const lost = stuck(watch, spec.limits.stuck_after);
  if (lost !== undefined) return pause(deps, run, lost);
  const decision = await deps.planners[spec.task.planner].next(input, signal);
  if (
    spec.limits.max_cost_usd !== undefined &&
    decision.usage !== undefined &&
    decision.usage.cost_micros === undefined
  ) {
    return pause(deps, run, costUnknown(spec));
  }
  const word = {
    message: decision.message,
    ...(decision.answer === undefined ? {} : { answer: await toPayload(deps.blobs, decision.answer) }),
    ...(decision.usage === undefined ? {} : { usage: decision.usage }),
    ...(watch === undefined ? {} : { watch }),
    ...(spec.task.planner === 'model' ? { messages_read: run.messages } : {}),
  };
  await record(deps, run, spec, decision, word);
}

async function pause(deps: WorkerDeps, run: RunState, reason: Problem): Promise<void> {
  await append(deps, run.id, pauseRun(run, reason));
}

const costUnknown = ({ task }: RunSpec): Problem => ({
  code: 'cost_unknown',
  message: `The run has a limit in dollars, but no price is known of ${task.planner === 'model' ? task.model : 'its model'}.`,
  next: 'Have the operator set its price (HOLDPOINT_MODEL_PRICES), or fork the run with a limit in tokens.',
});

async function begin(deps: WorkerDeps, run: RunState, signal: AbortSignal): Promise<void> {
  const making = { runId: run.id, signal, onProgress: tellProgress(deps, run) };
  const from = run.forked_from ?? run.parent;
  const made =
    from === undefined
      ? await deps.workspaces.materialise({ ...making, source: (await readSpec(deps, run)).source })
      : await deps.workspaces.fork({ ...making, from: { runId: from.run_id, snapshot: from.snapshot } });
  await append(deps, run.id, startRun(made));
}

const progressEveryMs = 2000;

/** A long copy tells how far it is, now and then. For the record: nothing waits for it. */
function tellProgress(deps: WorkerDeps, run: RunState): (progress: { files: number; bytes: number }) => void {
  let next = deps.now() + progressEveryMs;
  return (progress) => {
    if (deps.now() < next) return;
    next = deps.now() + progressEveryMs;
    append(deps, run.id, recordProgress(progress)).catch((error: unknown) =>
      deps.logger.warn({ run_id: run.id, err: error }, 'the progress of a copy was not recorded'),
    );
  };
}

async function record(
  deps: WorkerDeps,
  run: RunState,
  spec: RunSpec,
  decision: PlannerDecision,
  word: Word,
): Promise<void> {
  switch (decision.kind) {
    case 'finish':
      return end(deps, run, { as: 'succeeded', message: decision.message }, word);
    case 'give_up':
      return end(deps, run, { as: 'failed', message: decision.message, reason: decision.reason }, word);
    case 'calls': {
      const steps = await Promise.all(decision.calls.map((call) => turnStep(deps, run, spec, call)));
      const ids = steps.map((step) => step.id);
      await claimOwner(deps.redis, run.id, ids);
      await append(deps, run.id, planTurn(run, { ...word, steps }));
      return;
    }
    default:
      decision satisfies never;
  }
}

/** Tasks that are not over end first. A message that came while the model thought is answered before anything ends. */
async function end(deps: WorkerDeps, run: RunState, how: RunEnd, word: Word): Promise<void> {
  const ended = await append(deps, run.id, run.open_tasks > 0 ? closeRun(run, how, word) : endRun(run, how, word));
  if (ended.ok || word.answer === undefined) return;
  const now = await readRun(deps.redis, run.id);
  if (now !== undefined && now.messages > run.messages)
    await append(deps, run.id, planTurn(run, { ...word, steps: [] }));
}

/** A call as it enters the log: with validated arguments, or with the error it settles with. */
async function turnStep(deps: WorkerDeps, run: RunState, spec: RunSpec, call: PlannedCall): Promise<TurnStep> {
  const { error, args, ...named } = call;
  const asked = {
    ...{ toolset: spec.toolset, tool: call.tool, args },
    ...{ network: hasNetwork(spec.network), unattended: run.parent !== undefined },
  };
  const described = error ? ({ ok: false, error } as const) : deps.catalog.describe(asked);
  const id = deps.newId('step');
  if (!described.ok) {
    const written = await toPayload(deps.blobs, args);
    return { id, ...named, args: written, effect: 'read', risk: 'low', error: described.error };
  }
  const { effect, risk, gate } = described;
  const checked = await toPayload(deps.blobs, described.args);
  return { id, ...named, args: checked, effect, risk, ...(gate === undefined ? {} : { gate }) };
}

/** An infrastructure error: the queue tries again; where that is over or makes no sense, the run pauses and is not lost. */
async function interrupted(deps: WorkerDeps, runId: string, error: unknown, context: JobContext): Promise<void> {
  const reason = abortReason(context.signal);
  if (reason === 'shutdown') throw new HandBack();
  if (reason === 'lock-lost') throw error;
  if (reason === 'canceled') return;
  const { problem, retryable } = readError(error);
  deps.logger.warn({ run_id: runId, err: error }, 'a turn met an infrastructure error');
  if (retryable && !context.lastTry) throw error;
  const run = await readRun(deps.redis, runId);
  if (run?.status === 'queued' || run?.status === 'running') await pause(deps, run, problem);
}
