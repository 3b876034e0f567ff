import { isDeepStrictEqual } from 'node:util';
import type { Json, ModelRetrying, Problem, RefusedCalls, RunSpec } from '@holdpoint/contract';
import { limitReachedAbove, reportToAll, roomForCalls } from '../agents/index.ts';
import { describeCall } from '../approvals/describe-call.ts';
import { judgeDescribed, readsOf } from '../approvals/judge-described.ts';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import type { BoundTransition } from '../events/known-state.ts';
import type { JobContext } from '../jobs/index.ts';
import * as runLog from '../log/index.ts';
import type { PlannedCall, PlannerDecision, PlannerInput } from '../ports/index.ts';
import type { JobOwner } from '../queues/queues.ts';
import { quotaUsedUp } from '../quotas/index.ts';
import { nextReceived, type Received } from './next-received.ts';
import { resolveCall } from './resolve-call.ts';

/** A planner's decision as a transition, with the steps that it starts. */
export interface Planned {
  transition: domain.Transition;
  /** All new steps. */
  steps: string[];
  /** The new steps that pass the gate in the same entry. */
  begin: string[];
  /** The first step that waits for its gate. */
  waits?: string | undefined;
  /** No other part of the run needs a wake-up. */
  nothingElsePending: boolean;
  /** Appended instead of the end when a message arrived during planning. */
  unlessHeard?: domain.Transition;
  /** The planner is asked again at once, for the same turn. */
  again?: true;
  /** The planner is asked again at this time (milliseconds since the epoch), for the same turn. */
  sleepUntil?: number;
}

/** Records nothing. The planner is asked again at `sleepUntil`. */
export interface Nap {
  sleepUntil: number;
  transition?: undefined;
}

/** Asks the planner for the next turn, unless a limit, changed tools or a looping model stop the run. Records nothing. */
export async function planNext(
  deps: WorkerDeps,
  run: domain.RunState,
  spec: RunSpec,
  input: PlannerInput,
  signal: AbortSignal,
): Promise<Planned | Nap> {
  if (spec.goal.planner === 'open') return planReceived(deps, run, spec, input);
  const isModel = spec.goal.planner === 'model';
  // Asking a scripted planner is free, so the planner is asked before the limits: a completed plan ends even when its last step reached a
  // limit.
  const scripted = isModel ? undefined : await deps.planners.scripted.next(input, signal);
  if (scripted === undefined || scripted.kind === 'calls') {
    const reason = await whyPaused(deps, run, spec, scripted?.calls.length);
    if (reason !== undefined) return pausing(run, reason);
  }
  // A plan may repeat a call on purpose; only a model loops.
  const repetition = isModel ? domain.trackRepetition(run.repetition, await input.previous()) : undefined;
  const lost = domain.isLooping(repetition, spec.limits.loop_after);
  if (lost !== undefined) return pausing(run, lost);
  const warned = domain.loopWarning(repetition, spec.limits.loop_after);
  const askedAt = new Date(deps.now()).toISOString();
  const decision = scripted ?? (await deps.planners.model.next({ ...input, warned }, signal));
  if (decision.kind === 'instructed') return recorded(deps, run, decision);
  if (decision.kind === 'notified')
    return { ...nothing, again: true, transition: domain.notify(run, decision.notified) };
  if (decision.kind === 'retrying') return retrying(run, decision.retrying, deps.now());
  if (decision.kind === 'nap') return { sleepUntil: decision.until };
  if (decision.kind === 'unavailable') return pausing(run, decision.reason);
  const { usage, answered } = decision.kind === 'compacted' ? decision.compacted : decision;
  if (spec.limits.max_cost_usd !== undefined && usage !== undefined && usage.cost_micros === undefined) {
    return pausing(run, costUnknown(answered?.asked ?? input.model));
  }
  if (decision.kind === 'compacted') return recorded(deps, run, decision);
  const output = {
    message: decision.message,
    answer: decision.answer === undefined ? undefined : await runLog.toPayload(deps.blobs, decision.answer),
    usage,
    repetition,
    warned,
    messages_read: isModel ? run.messages : undefined,
    asked_at: isModel ? askedAt : undefined,
    answered: decision.answered,
  };
  const plan = await planned(deps, run, spec, decision, output);
  return isModel ? afterNotices(run, plan) : plan;
}

/** Refused when another worker recorded a notice in the meantime: the model has not read the notice. */
const afterNotices = (run: domain.RunState, plan: Planned): Planned => ({
  ...plan,
  transition: domain.noNoticeSince(run, plan.transition),
  ...(plan.unlessHeard && { unlessHeard: domain.noNoticeSince(run, plan.unlessHeard) }),
});

/**
 * The next calls that an open run received, or its wait for calls.
 * @param just received calls that are about to be recorded
 */
export async function planReceived(
  deps: EngineDeps,
  run: domain.RunState,
  spec: RunSpec,
  input: Pick<PlannerInput, 'named'>,
  just?: Received,
): Promise<Planned> {
  const received = just ?? (await nextReceived(deps, run));
  if (received === undefined) {
    return { transition: domain.waitForCalls(run), ...nothing, nothingElsePending: run.open_tasks === 0 };
  }
  const reason = await whyPaused(deps, run, spec, received.calls.length);
  if (reason !== undefined) return pausing(run, reason);
  const { number, steps, concurrent, canceled } = received;
  const resolved = await Promise.all(received.calls.map((call) => resolveCall(call, input)));
  const calls = resolved.map((call, index) => unlessCanceled({ ...call, step_id: steps[index] }, canceled));
  const message = `Calls ${number}`;
  const plan = await planned(
    deps,
    run,
    spec,
    { kind: 'calls', calls, concurrent, message },
    { message, received: number },
  );
  // The first of two writers wins: a cancel recorded in the meantime refuses this append, and the turn is planned again.
  const still = steps.filter((id) => canceled !== undefined && !canceled.has(id)).map(domain.notCanceled);
  return { ...plan, transition: { ...plan.transition, if: [...plan.transition.if, ...still] } };
}

function unlessCanceled(
  call: PlannedCall & { step_id?: string | undefined },
  canceled: Received['canceled'],
): PlannedCall {
  const cancel = canceled?.get(call.step_id ?? '');
  return cancel === undefined ? call : { ...call, error: domain.waitingCallError(cancel), isCanceled: true };
}

/** The reason why no turn may begin: a reached limit, a used up quota or changed tools. */
async function whyPaused(
  deps: EngineDeps,
  run: domain.RunState,
  spec: RunSpec,
  next?: number,
): Promise<Problem | undefined> {
  if (run.parent !== undefined) await reportToAll(deps, run.id);
  return (
    domain.limitReached(run, spec, deps.now(), next) ??
    (await limitReachedAbove(deps, run, next)) ??
    (spec.goal.planner === 'model' ? await quotaUsedUp(deps.redis, run, deps.now()) : undefined) ??
    domain.toolsChanged(domain.changedTools(run, spec, deps.catalog.versions(spec.toolset)))
  );
}

const nothing = { steps: [], begin: [], nothingElsePending: false };
const pausing = (run: domain.RunState, reason: Problem): Planned => ({
  transition: domain.pauseRun(run, reason),
  ...nothing,
});

/** Waits for a model that could not be asked. Asks the next model at once when the wait is already over. */
const retrying = (run: domain.RunState, data: ModelRetrying, now: number): Planned => {
  const until = Date.parse(data.until);
  const then = until > now ? { sleepUntil: until } : ({ again: true } as const);
  return { ...nothing, ...then, transition: domain.waitForModel(run, data, now) };
};

const costUnknown = (model: string): Problem => ({
  code: 'cost_unknown',
  message: `The run has a limit in dollars, but no price is known of ${model}.`,
  next: 'Have the operator set its price (HOLDPOINT_MODEL_PRICES), or fork the run with a limit in tokens.',
});

/** Records instructions or a compaction for later model requests. */
async function recorded(deps: EngineDeps, run: domain.RunState, decision: Recorded): Promise<Planned> {
  const again = { ...nothing, again: true } as const;
  if (decision.kind === 'instructed') {
    const { system, ...data } = decision.instructed;
    return {
      ...again,
      transition: domain.instruct(run, { ...data, system: await runLog.toPayload(deps.blobs, system) }),
    };
  }
  const { summary, carried, ...data } = decision.compacted;
  const stored = async (value: Json | undefined) =>
    value === undefined ? undefined : runLog.toPayload(deps.blobs, value);
  const payloads = { summary: await stored(summary), carried: await stored(carried) };
  return { ...again, transition: domain.compact(run, { ...data, ...payloads }) };
}

type Recorded = Extract<PlannerDecision, { kind: 'instructed' | 'compacted' }>;

async function planned(
  deps: EngineDeps,
  run: domain.RunState,
  spec: RunSpec,
  decision: Extract<PlannerDecision, { message: string }>,
  output: domain.PlannerOutput,
): Promise<Planned> {
  switch (decision.kind) {
    case 'finish': {
      const value = decision.output === undefined ? undefined : await runLog.toPayload(deps.blobs, decision.output);
      return ending(run, { as: 'succeeded', message: decision.message, output: value }, output);
    }
    case 'give_up':
      return ending(run, { as: 'failed', message: decision.message, reason: decision.reason }, output);
    case 'again':
      return { transition: domain.planTurn(run, { ...output, note: decision.note, steps: [] }), ...nothing };
    case 'pause':
      return {
        transition: domain.pauseAfterTurn(run, decision.reason, { ...output, note: decision.note }),
        ...nothing,
      };
    case 'calls': {
      const { calls, refused } = await withinRoom(deps, run, decision.calls, spec);
      const planned = await Promise.all(calls.map((call) => turnStep(deps, run, spec, call)));
      const all = decision.concurrent
        ? sideBySide(planned, spec.limits.max_tasks - run.open_tasks)
        : planned.map(inOrder);
      const { steps, nothingElsePending } = autoApprove(all);
      const hasTasks = run.open_tasks > 0;
      return {
        transition: domain.planTurn(run, { ...output, refused, steps }),
        steps: steps.map(({ id }) => id),
        begin: steps.flatMap(({ id, passes }) => (passes === undefined ? [] : [id])),
        waits: steps.find(({ passes, error }) => passes === undefined && error === undefined)?.id,
        nothingElsePending: nothingElsePending && !hasTasks,
      };
    }
    default:
      return decision satisfies never;
  }
}

/** Keeps the calls of a model turn up to the cap, and refuses the rest. The calls of a scripted plan are capped on submission. */
async function withinRoom(
  deps: EngineDeps,
  run: domain.RunState,
  calls: PlannedCall[],
  { goal }: RunSpec,
): Promise<{ calls: PlannedCall[]; refused?: RefusedCalls }> {
  if (goal.planner !== 'model') return { calls };
  const room = await roomForCalls(deps, run);
  const above = calls.length - room.calls;
  if (above <= 0) return { calls };
  return { calls: calls.slice(0, room.calls), refused: { calls: above, error: room.error } };
}

/** Open tasks end before the run does. */
const ending = (run: domain.RunState, end: domain.RunEnd, output: domain.PlannerOutput): Planned => ({
  transition: run.open_tasks > 0 ? domain.closeRun(run, end, output) : domain.endRun(run, end, output),
  ...nothing,
  unlessHeard: output.answer && domain.planTurn(run, { ...output, steps: [] }),
});

/** The log entry of a call: validated arguments, or the error that settles the call. */
async function turnStep(
  deps: EngineDeps,
  run: domain.RunState,
  spec: RunSpec,
  call: PlannedCall,
): Promise<domain.TurnStep> {
  const { step_id, error, isCanceled, args, ...named } = call;
  const described = error ? ({ ok: false, error } as const) : describeCall(deps, spec, { run, tool: call.tool, args });
  const id = step_id ?? deps.newId('step');
  if (!described.ok) {
    const written = await runLog.toPayload(deps.blobs, args);
    return { id, ...named, args: written, effect: 'read', risk: 'low', error: described.error, isCanceled };
  }
  const { effect, risk, gate, sequential, beside, looks } = described;
  const checked = await runLog.toPayload(deps.blobs, described.args);
  const { verdict, policies } = judgeDescribed(deps, spec, { tool: call.tool, args, described });
  const written = isDeepStrictEqual(args, described.args) ? undefined : await runLog.toPayload(deps.blobs, args);
  const reads = readsOf(deps, spec, { tool: call.tool, args, described, verdict });
  const known = {
    effect: reads === undefined ? effect : 'read',
    risk,
    gate,
    sequential,
    beside: reads === undefined ? beside : undefined,
    looks,
    reads,
    planning: spec.modes.plan || undefined,
  } as const;
  return { id, ...named, args: checked, ...known, verdict, policies, written };
}

const inOrder = ({ beside: _, ...step }: domain.TurnStep): domain.TurnStep => step;

/**
 * Marks the calls that run side by side, by keeping `beside`: writing calls that can run as background commands and need no person. They
 * count as reads in the order of the turn. Each needs a task, so only the first `room` calls are marked. A single call gains nothing.
 */
function sideBySide(all: readonly domain.TurnStep[], room: number): domain.TurnStep[] {
  const able = all.filter(
    ({ beside, effect, error, sequential, looks, verdict }) =>
      beside && effect !== 'read' && !error && !sequential && !looks && verdict?.action === 'allow',
  );
  const chosen = new Set(able.length < 2 ? [] : able.slice(0, Math.max(0, room)));
  return all.map((step) => (chosen.has(step) ? step : inOrder(step)));
}

/**
 * Lets the calls allowed by the policy through, in the same entry as the turn, as far as the order of the calls permits. Held and denied
 * calls, and calls behind another call, go to the gate.
 */
function autoApprove(all: readonly domain.TurnStep[]): { steps: domain.TurnStep[]; nothingElsePending: boolean } {
  const ready = new Set(
    domain.unblocked(all, (step) => ({
      isSettled: step.error !== undefined,
      writes: (step.effect !== 'read' && step.beside !== true) || step.sequential === true,
      isDenied: step.verdict?.action === 'deny',
    })),
  );
  let nothingElsePending = true;
  const steps = all.map((step) => {
    if (!ready.has(step)) return step;
    const { verdict, looks } = step;
    if (verdict?.action === 'allow' && looks === undefined) return { ...step, passes: verdict.reason };
    nothingElsePending = false;
    return step;
  });
  return { steps, nothingElsePending: nothingElsePending && steps.some(({ passes }) => passes !== undefined) };
}

/** Records a plan, and adds the jobs of the steps that begin. @param end the `end` of `recordAfter` */
export const recordPlan = async (
  deps: WorkerDeps,
  run: PlannedRun,
  planned: Planned,
  end?: OwnEnd,
): Promise<runLog.Appended> => runLog.asWhole(await recordAfter(deps, run, [], planned, end), 1);

/**
 * Records a plan after other transitions, in one append. When nothing else is pending, the jobs follow the append on the same connection,
 * so a job finds its step. A job whose plan was refused finds no step.
 * @param end ends the planning job as soon as the jobs are sent: the job is done, unless the plan is refused
 */
export async function recordAfter(
  deps: WorkerDeps,
  run: PlannedRun,
  first: readonly BoundTransition[],
  { steps, begin, nothingElsePending, transition }: Planned,
  end: OwnEnd = {},
): Promise<runLog.AppendedParts> {
  const addJobs = () => Promise.all(begin.map((id) => deps.queues.addStep(run, id)));
  // The ending job takes one of the new jobs, or another waiting job.
  const sendJobs = () => {
    const [first, ...rest] = end.takesNextStep?.() ? begin : [];
    if (first === undefined) return addJobs();
    return Promise.all([deps.queues.addNextStep(run, first), ...rest.map((id) => deps.queues.addStep(run, id))]);
  };
  const [only, ...others] = nothingElsePending ? begin : [];
  const next = others.length === 0 ? only : undefined;
  const recording = Promise.all([
    runLog.claimOwner(deps.redis, run.id, steps),
    runLog.appendParts(deps, run.id, [...first, transition], { returning: next }),
    ...(nothingElsePending ? [sendJobs()] : []),
  ]);
  if (nothingElsePending) end.finish?.();
  const [, appended] = await recording;
  if (appended.parts <= first.length || !('seq' in appended)) return appended;
  if (next !== undefined) runLog.cacheStep(deps.redis, next, appended.returned);
  // The server did not know the script, so the jobs were there before their steps.
  if (appended.late && nothingElsePending) await addJobs();
  // The usage of a turn counts for the runs above before any of them plans another turn.
  if (run.parent !== undefined) await reportToAll(deps, run.id);
  return appended;
}

type PlannedRun = JobOwner & Pick<domain.RunState, 'parent'>;
type OwnEnd = Pick<JobContext, 'finish' | 'takesNextStep'>;
