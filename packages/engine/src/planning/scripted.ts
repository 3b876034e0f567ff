import type { Plan, Problem } from '@holdpoint/contract';
import type { Planner, PlannerDecision, PlannerInput, StepEnding } from '../ports/index.ts';
import { resolveCall } from './resolve-call.ts';

/** Turn n is group n of the plan. A group with a step that did not succeed ends the run, unless the group has `on_error: continue`. */
export const scriptedPlanner: Planner = {
  async next(input) {
    if (input.spec.goal.planner !== 'scripted') throw new TypeError('the run has no scripted plan');
    const { plan } = input.spec.goal;
    const stop = await failureOfLastGroup(plan, input);
    if (stop) return { kind: 'give_up', message: stop.message, reason: stop };
    const group = plan.groups[input.turn - 1];
    if (!group) return { kind: 'finish', message: `All ${plan.groups.length} groups of the plan are done.` };
    const calls = await Promise.all(group.steps.map((step) => resolveCall(step, input)));
    return {
      kind: 'calls',
      message: `Group ${input.turn} of ${plan.groups.length}`,
      calls,
      concurrent: group.concurrent,
    } satisfies PlannerDecision;
  },
};

async function failureOfLastGroup(plan: Plan, input: PlannerInput): Promise<Problem | undefined> {
  const last = plan.groups[input.turn - 2];
  if (!last || last.on_error === 'continue') return undefined;
  const failed = (await input.endings()).find((step) => step.status !== 'succeeded');
  if (!failed) return undefined;
  return {
    code: failed.error?.code ?? 'ESTEPFAILED',
    message:
      `Group ${input.turn - 1} stopped the plan: ${label(failed)} ${failed.status}. ${failed.error?.message ?? ''}`.trim(),
    next: 'Correct the plan and submit it again, or set on_error: continue where a failure is expected.',
  };
}

const label = (step: StepEnding): string => (step.name === undefined ? step.tool : `${step.name} (${step.tool})`);
