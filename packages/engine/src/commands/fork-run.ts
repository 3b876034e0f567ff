import { isDeepStrictEqual } from 'node:util';
import type { ForkedFrom, Plan, RunSpec } from '@holdpoint/contract';
import type { AskedGrants } from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, claimOwner, readSpec, toPayload, trackRun } from '../log/index.ts';
import { findRewindPoint, listSteps, type RewindPoint } from '../queries/index.ts';
import { traceOfCaller } from '../spans/index.ts';
import { planAgain, readTurn, recordedCall } from './plan-again.ts';
import { reservePlace } from './reserve-place.ts';
import { getRun } from './steer-run.ts';
import { findSubmitted, type Idempotency, reserveRun, wakeRun } from './submit-run.ts';

/** The changes of a fork against the original run. */
interface ForkChanges
  extends Partial<Pick<RunSpec, 'title' | 'labels' | 'policy' | 'limits' | 'validators' | 'priority'>>,
    AskedGrants {
  /** The version of `policy`. Without a version, a changed policy is an inline document. */
  policy_pin?: RunSpec['policy_pin'];
  /** For a scripted run. The kept groups must equal the original run's groups. */
  plan?: Plan;
  /** For a model run. */
  model?: string;
}

interface ForkRequest {
  /** The last kept step: its id, or its number in the list of steps, from 1; 0: no step is kept. */
  fromStep: string | number;
  changes: ForkChanges;
  by: string;
  idempotency?: Idempotency | undefined;
  /** An id that was chosen before, in the place of an idempotency key: the same id makes one run. */
  runId?: string | undefined;
}

/**
 * Creates a run that continues from a moment in another run's past, with the files and the conversation of this moment. The original run
 * stays unchanged. When the call returns, the new run is in the log and will be worked on, even when processes die later.
 * @throws EngineError `run_not_found`, `step_not_found`, `step_not_settled`, `workspace_not_ready`, `workspace_discarded`,
 * `invalid_fork`, `idempotency_key_reused`
 */
export async function forkRun(
  deps: EngineDeps,
  runId: string,
  request: ForkRequest,
): Promise<{ runId: string; created: boolean }> {
  const { by, idempotency } = request;
  const { run, steps, approvals } = await listSteps(deps, runId);
  const { tenant } = run;
  const known = idempotency && (await findSubmitted(deps, { tenant, idempotency }));
  if (known !== undefined) return { runId: known, created: false };
  assertWorkspace(run);
  const point = await findRewindPoint(deps, { run, steps }, request.fromStep);
  // The fork has the mode of its moment: the plan is approved when its step is kept.
  const isApproved = point.before.some(({ id }) => id === run.plan_approved);
  const theirs = await readSpec(deps, isApproved ? run : { id: run.id });
  const changes = { ...request.changes, model: request.changes.model ?? run.model };
  const spec = { ...changed(theirs, changes, point), ...domain.boundBy(deps.operatorPolicy?.(), theirs) };
  const isOther = run.forked_from?.other_policy ?? !isDeepStrictEqual(spec.policy, theirs.policy);
  const fork = await forkAt(deps, run, { spec, point, approvals, isOther });

  const child = request.runId ?? (await reserveRun(deps, { tenant, idempotency }));
  await reservePlace(deps, child, { tenant, by });
  const recordedFork = await append(
    deps,
    run.id,
    domain.recordFork({ child, step_id: point.to, snapshot: point.snapshot }),
  );
  // A refusal means that an earlier request with this key recorded the fork, or that the workspace was just discarded.
  if (!recordedFork.ok) assertWorkspace(await getRun(deps, run.id));
  await claimOwner(
    deps.redis,
    child,
    fork.inherited.flatMap((event) => (event.type === 'step.created' ? [event.step_id] : [])),
  );
  await trackRun(deps.redis, child, tenant);
  const stored = await toPayload(deps.blobs, spec);
  const tools = deps.catalog.versions(spec.toolset);
  const appended = await append(
    deps,
    child,
    domain.createRun(spec, { stored, by, tenant, tools, fork, linkedTraceId: traceOfCaller(run) }),
  );
  if (appended.ok) await wakeRun(deps, { id: child }, fork.from.turn + 1, { isNew: true });
  return { runId: child, created: appended.ok };
}

function assertWorkspace(run: domain.RunState): void {
  if (run.publication !== 'discarding' && run.publication !== 'discarded') return;
  throw new domain.EngineError('workspace_discarded', `the workspace of ${run.id} was discarded`);
}

async function forkAt(
  deps: EngineDeps,
  run: domain.RunState,
  {
    spec,
    point,
    approvals,
    isOther,
  }: { spec: RunSpec; point: RewindPoint; approvals: readonly domain.ApprovalState[]; isOther: boolean },
): Promise<domain.Fork> {
  const { to, turn, kept, again, before, snapshot } = point;
  const isPartial = again.length > 0;
  const whole = isPartial ? before.filter((step) => step.call.turn < turn) : before;
  const names = whole.flatMap((step) => (step.call.name === undefined ? [] : [[step.call.name, step.id] as const]));
  const from: ForkedFrom = {
    run_id: run.id,
    seq: run.seq,
    step_id: to,
    turn: isPartial ? turn - 1 : turn,
    snapshot,
    names: { ...run.forked_from?.names, ...Object.fromEntries(names) },
    other_policy: isOther || undefined,
  };
  if (!isPartial) return { from, inherited: [] };
  const recorded = await readTurn(deps, run.id, turn);
  const { message, answer, refused } = recorded;
  const inherited = domain.inheritTurn({
    turn,
    message,
    answer,
    refused,
    steps: [
      ...kept.map((step) => ({
        ...withoutError(recordedCall(deps, step, recorded)),
        inherited: { step, grants: domain.grantsOf(step, approvals) },
      })),
      ...(await Promise.all(again.map((step) => planAgain(deps, step, recorded, { spec, run: {} })))),
    ],
  });
  return { from, inherited };
}

/** The error of a kept step is recorded with its outcome. */
function withoutError<Step extends { error?: unknown }>({ error, ...step }: Step): Omit<Step, 'error'> {
  return step;
}

function changed(
  spec: RunSpec,
  {
    plan,
    model,
    permissions,
    protected: globs,
    modes,
    ...changes
  }: Omit<ForkChanges, 'model'> & { model: string | undefined },
  point: RewindPoint,
): RunSpec {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const other = { ...spec, ...(changes.policy && { policy_pin: changes.policy_pin }), ...given };
  const next = domain.narrowSpec(other, { permissions, protected: globs, modes });
  if (plan !== undefined) {
    if (spec.goal.planner !== 'scripted')
      throw new domain.EngineError('invalid_fork', 'only a scripted run takes a plan');
    const before = spec.goal.plan.groups.slice(0, point.turn);
    if (!isDeepStrictEqual(plan.groups.slice(0, point.turn), before)) {
      throw new domain.EngineError('invalid_fork', `the first ${point.turn} groups are kept and must be as they were`);
    }
    return { ...next, goal: { planner: 'scripted', plan } };
  }
  if (model !== undefined) {
    if (spec.goal.planner !== 'model')
      throw new domain.EngineError('invalid_fork', 'only a run with a prompt takes a model');
    return { ...next, goal: { ...spec.goal, model } };
  }
  return next;
}
