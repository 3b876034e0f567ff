import type { RunSpec } from '@holdpoint/contract';

const minute = 60_000;
/** A planned call moves its run back by this much. So a short run passes long runs, for as long as a person would accept. */
const perCallMs = minute;
const mostCalls = 60;
/** A model's run may have any length. */
const guessedCalls = 10;
const byPriority = { high: -30 * minute, normal: 0, low: 30 * minute };
/** Runs already begun go before all others. */
const begunMs = 24 * 60 * minute;

/** How long after its time a run stands in line: the longer its plan, and the lower its priority. Milliseconds. */
export function behindOf({ goal, priority }: Pick<RunSpec, 'goal' | 'priority'>): number {
  return perCallMs * Math.min(mostCalls, callsOf(goal)) + byPriority[priority ?? 'normal'];
}

/**
 * The order of runs in line, smallest first. The rank is fixed when a run comes, so time alone moves every run to the front: a run of low
 * priority stands behind the normal runs of the next half hour, and before all later runs.
 */
export const rankOf = (createdAt: number, behind: number, hasBegun: boolean): number =>
  createdAt + behind - (hasBegun ? begunMs : 0);

/** A plan of so few calls is over soon. */
const callsOfShort = 3;

/** Whether a run may have a place reserved for short runs. */
export const isShort = ({ goal, priority, prepare }: Pick<RunSpec, 'goal' | 'priority' | 'prepare'>): boolean =>
  goal.planner === 'scripted' && priority !== 'low' && prepare === undefined && callsOf(goal) <= callsOfShort;

const callsOf = (goal: RunSpec['goal']): number => {
  if (goal.planner === 'open') return 1;
  return goal.planner === 'model' ? guessedCalls : goal.plan.groups.reduce((sum, { steps }) => sum + steps.length, 0);
};
