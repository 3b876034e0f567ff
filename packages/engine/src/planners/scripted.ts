import {
  asReference,
  type Json,
  type Plan,
  type PlanStep,
  type Problem,
  type Reference,
  resolvePointer,
} from '@holdpoint/contract';
import type { PlannedCall, Planner, PlannerDecision, PlannerInput, SettledStep } from '../ports/index.ts';

/** Turn n is group n of the plan. A group with a step that did not succeed ends the run, unless it says `on_error: continue`. */
export const scriptedPlanner: Planner = {
  async next(input) {
    if (input.spec.goal.planner !== 'scripted') throw new TypeError('the run has no scripted plan');
    const { plan } = input.spec.goal;
    const stop = await failureOfLastGroup(plan, input);
    if (stop) return { kind: 'give_up', message: stop.message, reason: stop };
    const group = plan.groups[input.turn - 1];
    if (!group) return { kind: 'finish', message: `All ${plan.groups.length} groups of the plan are done.` };
    const calls = await Promise.all(group.steps.map((step) => callOf(step, input)));
    return { kind: 'calls', message: `Group ${input.turn} of ${plan.groups.length}`, calls } satisfies PlannerDecision;
  },
};

async function failureOfLastGroup(plan: Plan, input: PlannerInput): Promise<Problem | undefined> {
  const last = plan.groups[input.turn - 2];
  if (!last || last.on_error === 'continue') return undefined;
  const failed = (await input.previous()).find((step) => step.status !== 'succeeded');
  if (!failed) return undefined;
  return {
    code: failed.error?.code ?? 'ESTEPFAILED',
    message:
      `Group ${input.turn - 1} stopped the plan: ${label(failed)} ${failed.status}. ${failed.error?.message ?? ''}`.trim(),
    next: 'Correct the plan and submit it again, or set on_error: continue where a failure is expected.',
  };
}

const label = (step: SettledStep): string => (step.name === undefined ? step.tool : `${step.name} (${step.tool})`);

async function callOf(step: PlanStep, input: PlannerInput): Promise<PlannedCall> {
  const call = { tool: step.tool, name: step.name };
  try {
    return { ...call, args: await resolve(step.args, input) };
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    const next = 'Refer to a step that succeeds, and to a place which its result has.';
    return { ...call, args: step.args, error: { code: 'EREFERENCE', message: error.message, next } };
  }
}

class UnresolvedReference extends Error {
  override name = 'UnresolvedReference';
}

/** The value with every reference replaced by what it refers to. */
async function resolve(value: Json, input: PlannerInput): Promise<Json> {
  const reference = asReference(value);
  if (reference) return follow(reference, input);
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolve(item, input)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(async ([key, inner]) => [key, await resolve(inner, input)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function follow({ $from, pointer }: Reference, input: PlannerInput): Promise<Json> {
  const step = await input.named($from);
  if (step?.native === undefined) {
    throw new UnresolvedReference(`The step ${$from} has no result to refer to (${step?.status ?? 'it never ran'}).`);
  }
  const found = resolvePointer(step.native, pointer);
  if (found === undefined) throw new UnresolvedReference(`The result of ${$from} has nothing at ${pointer || '/'}.`);
  return found;
}
