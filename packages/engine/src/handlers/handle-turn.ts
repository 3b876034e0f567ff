import { toPayload } from '../blobs/blob-store.ts';
import type { WorkerDeps } from '../deps.ts';
import { hasNetwork, type RunSpec } from '../domain/run-spec.ts';
import type { RunState } from '../domain/state.ts';
import { planTurn, type TurnStep } from '../domain/transitions/plan-turn.ts';
import { failRun, pauseRun, recordProgress, startRun, succeedRun } from '../domain/transitions/run-life.ts';
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
  if (run?.status !== 'running' || run.restore === 'due' || run.open > 0 || run.turn !== job.turn - 1) return;
  const spec = await readSpec(deps, run);
  // A plan has as many turns as it has groups; only a model can go on for ever.
  if (spec.task.planner === 'model' && run.turn - run.budget_from >= spec.limits.max_turns) {
    await append(deps, run.id, pauseRun(turnLimit(spec)));
    return;
  }
  const decision = await deps.planners[spec.task.planner].next(plannerInput(deps, run, spec), signal);
  await record(deps, run, spec, decision);
}

const turnLimit = (spec: RunSpec) => ({
  code: 'max_turns',
  message: `The run took ${spec.limits.max_turns} turns, which is its limit.`,
  next: 'Resume it to grant as many again, or cancel it.',
});

async function begin(deps: WorkerDeps, run: RunState, signal: AbortSignal): Promise<void> {
  const making = { runId: run.id, signal, onProgress: tellProgress(deps, run) };
  const { forked_from: from } = run;
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

async function record(deps: WorkerDeps, run: RunState, spec: RunSpec, decision: PlannerDecision): Promise<void> {
  const { message } = decision;
  const word = {
    message,
    ...(decision.answer === undefined ? {} : { answer: await toPayload(deps.blobs, decision.answer) }),
  };
  switch (decision.kind) {
    case 'finish':
      await append(deps, run.id, succeedRun(run, word));
      return;
    case 'give_up':
      await append(deps, run.id, failRun(run, decision.reason, word));
      return;
    case 'calls': {
      const steps = await Promise.all(decision.calls.map((call) => turnStep(deps, spec, call)));
      const ids = steps.map((step) => step.id);
      await claimOwner(deps.redis, run.id, ids);
      await append(deps, run.id, planTurn(run, { ...word, steps }));
      return;
    }
    default:
      decision satisfies never;
  }
}

/** A call as it enters the log: with validated arguments, or with the error it settles with. */
async function turnStep(deps: WorkerDeps, spec: RunSpec, call: PlannedCall): Promise<TurnStep> {
  const { error, args, ...named } = call;
  const described = error
    ? ({ ok: false, error } as const)
    : deps.executor.describe({ toolset: spec.toolset, tool: call.tool, args, network: hasNetwork(spec.network) });
  const id = deps.newId('step');
  if (!described.ok) {
    const asked = await toPayload(deps.blobs, args);
    return { id, ...named, args: asked, effect: 'read', risk: 'low', error: described.error };
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
  await append(deps, runId, pauseRun(problem));
}
