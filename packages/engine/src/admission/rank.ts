import type { RunSpec } from '@holdpoint/contract';

const minute = 60_000;
/** One planned call counts as so much later. So a short run passes long ones, for as long as a person would let it. */
const perCallMs = minute;
const mostCalls = 60;
/** A model's run may have any length. */
const guessedCalls = 10;
const byPriority = { high: -30 * minute, normal: 0, low: 30 * minute };
/** Runs that have begun go before all that have not. */
const begunMs = 24 * 60 * minute;

/** How long after its time a run stands in line: the longer its plan, and the lower its priority. Milliseconds. */
export function behindOf({ goal, priority }: Pick<RunSpec, 'goal' | 'priority'>): number {
  return perCallMs * Math.min(mostCalls, callsOf(goal)) + byPriority[priority ?? 'normal'];
}

/**
 * The order of runs in line, smallest first. It is fixed when a run comes, so time alone moves every run to the front: a run of low priority
 * stands behind the normal ones of the next half hour, and before those that come later.
 */
export const rankOf = (createdAt: number, behind: number, hasBegun: boolean): number =>
  createdAt + behind - (hasBegun ? begunMs : 0);

/** A plan of so few calls is over soon. */
const callsOfShort = 3;

/** Whether a run may have one of the places that are only for short runs. */
export const isShort = ({ goal, priority, prepare }: Pick<RunSpec, 'goal' | 'priority' | 'prepare'>): boolean =>
  goal.planner === 'scripted' && priority !== 'low' && prepare === undefined && callsOf(goal) <= callsOfShort;

const callsOf = (goal: RunSpec['goal']): number => {
  if (goal.planner === 'open') return 1;
  return goal.planner === 'model' ? guessedCalls : goal.plan.groups.reduce((sum, { steps }) => sum + steps.length, 0);
};
