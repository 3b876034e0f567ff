import type { Callers, Holder } from '@holdpoint/callers';
import type * as contract from '@holdpoint/contract';
import { forkRunSchema } from '@holdpoint/contract/wire';
import type { EvalLookDeps, EvalState, Forking, Reading, RunState } from '@holdpoint/engine';
import type { ServerDeps } from '../deps.ts';
import { toProblem } from '../errors/to-problem.ts';
import { figuresOf } from '../routes/evals/read-evals.ts';
import { forkRequest } from '../routes/runs/fork-run.ts';
import { toRun } from '../routes/runs/run-view.ts';

export type RepeatDeps = ServerDeps & { callers: Pick<Callers, 'holderOfKey'> };

/** How an evaluation repeats runs: on forks before the first step, with the rights of the key that began it. */
export const repeatsWith = (deps: RepeatDeps): Pick<EvalLookDeps, 'fork' | 'read' | 'validate' | 'cancel'> => ({
  fork: (state, repeat) => forkRepeat(deps, state, repeat),
  read: (state, runId) => readRepeat(deps, state, runId),
  validate: (state, runId) => engineOf(deps, state).runs.validate(runId),
  async cancel(state, runId) {
    const engine = engineOf(deps, state);
    await engine.runs.cancel(runId, { message: 'The evaluation ends here.' }).catch((error: unknown) => {
      deps.logger.warn({ err: error, run_id: runId }, 'a repeat could not be canceled; it is tried again');
    });
  },
});

const engineOf = ({ openEngine }: RepeatDeps, { id, tenant }: EvalState) =>
  openEngine.as({ name: id, kind: 'service', tenant });

/** @returns why the repeat can never begin. @throws an error that may pass */
async function forkRepeat(deps: RepeatDeps, state: EvalState, repeat: Forking): Promise<string | undefined> {
  // A process may have died after the fork: the run counts, whatever became of the key and the marked run since.
  if ((await engineOf(deps, state).runs.find(repeat.run_id)) !== undefined) return undefined;
  const holder = await deps.callers.holderOfKey(state.key_id);
  if (holder === undefined) return `the key of ${state.created_by} was revoked or has expired`;
  if (!holder.scopes.includes('runs:write')) return `the key of ${state.created_by} has no scope runs:write any more`;
  try {
    await fork(deps, holder, { state, repeat });
    return undefined;
  } catch (error) {
    const { status, code, detail } = toProblem(error);
    if (status >= 500 || status === 429) throw error;
    // Another process may have made the fork, and what it was made from may be gone since.
    return (await engineOf(deps, state).runs.find(repeat.run_id)) === undefined ? `${code}: ${detail}` : undefined;
  }
}

async function fork(deps: RepeatDeps, holder: Holder, { state, repeat }: { state: EvalState; repeat: Forking }) {
  const engine = deps.openEngine.as(holder.caller);
  const parent = await engine.runs.get(repeat.of);
  const spec = await engine.runs.spec(parent);
  const body = forkRunSchema.parse({
    from_step: 0,
    title: `${parent.header.title.slice(0, 90)} (${state.name.slice(0, 60)})`,
    model: repeat.model,
    policy: heldPolicy(spec.policy),
    limits: limitsOf(spec.limits, repeat.allowed),
    permissions: spec.permissions?.filter((one) => !/^net(:|$)/.test(one)) ?? withoutNetwork,
    modes: { dry_run: true },
    ...(state.validators && { validators: state.validators }),
    labels: { ...spec.labels, eval: state.id },
  });
  await forkRequest({ ...deps, engine, holder }, parent, { body, runId: repeat.run_id });
}

/** Every permission but those of the network. */
const withoutNetwork = ['fs:read', 'fs:write', 'exec:*', 'graph:read'];

/** Seconds. In a repeat there is no person to ask. */
const heldFor = 1;

/**
 * Holds every external effect, and lets every question expire: what is held never runs. The terms of the marked run, such as who is asked or
 * that a call runs when the time is over, do not hold for a repeat.
 */
function heldPolicy({ rules, publish }: contract.Policy): contract.Policy {
  const external: contract.PolicyRule = {
    ...{ name: 'evaluation', match: { effect: 'external' }, action: 'hold' },
    reason: 'a repeat makes no external effect',
  };
  // A rule about external effects alone never decides behind that one, and such a policy is refused.
  const others = rules.filter(({ match: { effect } }) => effect === undefined || [effect].flat().join() !== 'external');
  const plain = others.map(({ name, match, action, reason, surely }) => ({ name, match, action, reason, surely }));
  return { rules: [external, ...plain], publish, approval_timeout_s: heldFor };
}

const limitsOf = (limits: contract.Limits, allowed: contract.EvalBudget = {}): contract.Limits => ({
  ...limits,
  ...leastOf('max_cost_usd', limits, allowed),
  ...leastOf('max_steps', limits, allowed),
});

function leastOf<Name extends keyof contract.EvalBudget>(
  name: Name,
  ...given: { [key in Name]?: number | undefined }[]
) {
  const values = given.flatMap((one) => one[name] ?? []);
  return values.length === 0 ? {} : { [name]: Math.min(...values) };
}

/** What the fork of a repeat is now, from its log alone. */
async function readRepeat(deps: RepeatDeps, state: EvalState, runId: string): Promise<Reading> {
  const engine = engineOf(deps, state);
  const run = await engine.runs.find(runId);
  if (run === undefined) return { status: 'gone', validators: 'absent', cost_usd: 0, steps: 0, turns: 0, holds: 0 };
  const { validators } = await engine.runs.spec(run);
  return {
    ...(await figuresOf(engine, run)),
    ...{ status: statusOf(run), validators: validators.length === 0 ? 'absent' : validatorsOf(run) },
    reason: run.reason?.message ?? (run.publication === 'failed' ? toRun(run).publication.reason?.message : undefined),
  };
}

function statusOf({ status }: RunState): Reading['status'] {
  if (status === 'paused' || status === 'succeeded' || status === 'failed' || status === 'canceled') return status;
  return 'active';
}

function validatorsOf({ publication, validated, snapshot }: RunState): Reading['validators'] {
  if (publication === 'none') return 'none';
  if (publication === 'requested') return 'running';
  return validated?.snapshot === snapshot && validated?.passed === true ? 'passed' : 'failed';
}
