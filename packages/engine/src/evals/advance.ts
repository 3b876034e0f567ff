import type { EvalBudget, EvalFigures, EvalOutcome } from '@holdpoint/contract';
import type { EvalState, Repeat } from './state.ts';

/** What a fork is now. @property validators `none`: no request has asked for them yet */
export interface Reading extends EvalFigures {
  status: 'active' | 'paused' | 'succeeded' | 'failed' | 'canceled' | 'gone';
  validators: 'absent' | 'none' | 'running' | 'passed' | 'failed';
  reason?: string | undefined;
}

export interface Advanced {
  state: EvalState;
  hasChanged: boolean;
}

/** Moves an evaluation on by what its forks are now: settles repeats, and takes the next ones under ids that are chosen here. Pure. */
export function advance(
  before: EvalState,
  { readings, now, newRunId }: { readings: ReadonlyMap<string, Reading>; now: number; newRunId: () => string },
): Advanced {
  const read = before.repeats.map((repeat) => {
    const reading = repeat.run_id === undefined ? undefined : readings.get(repeat.run_id);
    return reading === undefined ? repeat : moved(repeat, reading, before.canceled_by !== undefined);
  });
  const repeats = before.canceled_by === undefined ? take({ ...before, repeats: read }, newRunId) : read.map(skipped);
  const isOver = repeats.every(({ status }) => status === 'done');
  const state = { ...before, repeats, ...(isOver && { ended_at: new Date(now).toISOString() }) };
  return { state, hasChanged: isOver || JSON.stringify(repeats) !== JSON.stringify(before.repeats) };
}

function moved(repeat: Repeat, { status, validators, reason, ...figures }: Reading, isCanceled: boolean): Repeat {
  const known = { ...repeat, ...figures };
  const done = (outcome: EvalOutcome, why = reason): Repeat => ({
    ...{ ...known, status: 'done', outcome },
    ...(why !== undefined && { reason: repeat.reason ?? why }),
  });
  switch (status) {
    case 'active':
      return isCanceled ? { ...known, status: 'canceling' } : known;
    case 'paused':
      return { ...known, status: 'canceling', ...(reason !== undefined && { reason: repeat.reason ?? reason }) };
    case 'succeeded':
      if (validators === 'failed') return done('failed');
      if (validators === 'absent' || validators === 'passed') return done('passed');
      return { ...known, status: 'validating' };
    case 'failed':
      return done('failed');
    case 'canceled':
      return done('stopped', 'it was canceled');
    case 'gone':
      return done('stopped', 'its run is gone');
    default:
      return status satisfies never;
  }
}

const skipped = (repeat: Repeat): Repeat =>
  repeat.status === 'waiting'
    ? { ...repeat, status: 'done', outcome: 'skipped', reason: 'the evaluation was canceled' }
    : repeat;

/** Begins as many repeats as there are free places, each with its part of what is left of the budget. */
function take({ budget, parallel, repeats: before }: EvalState, newRunId: () => string): Repeat[] {
  const repeats = [...before];
  for (let free = parallel - repeats.filter(isUnderWay).length; free > 0; free--) {
    const at = repeats.findIndex(({ status }) => status === 'waiting');
    const next = repeats[at];
    if (next === undefined) break;
    const left = leftOf(budget, repeats);
    const places = Math.min(free, repeats.filter(({ status }) => status === 'waiting').length);
    const allowed = partOf(left, places);
    if (allowed !== undefined) repeats[at] = { ...next, status: 'forking', run_id: newRunId(), allowed };
    else if (repeats.some(isUnderWay)) break;
    else return repeats.map((one) => (one.status === 'waiting' ? overBudget(one) : one));
  }
  return repeats;
}

const isUnderWay = ({ status }: Repeat): boolean => status !== 'waiting' && status !== 'done';

const overBudget = (repeat: Repeat): Repeat => ({
  ...{ ...repeat, status: 'done', outcome: 'skipped', reason: 'the budget of the evaluation is spent' },
});

/** What no repeat has used, or may still use. */
function leftOf(budget: EvalBudget, repeats: readonly Repeat[]): EvalBudget {
  const used = (of: 'cost_usd' | 'steps', limit: keyof EvalBudget): number =>
    repeats.reduce((sum, one) => sum + (isUnderWay(one) ? Math.max(one[of], one.allowed?.[limit] ?? 0) : one[of]), 0);
  return {
    ...(budget.max_cost_usd !== undefined && { max_cost_usd: budget.max_cost_usd - used('cost_usd', 'max_cost_usd') }),
    ...(budget.max_steps !== undefined && { max_steps: budget.max_steps - used('steps', 'max_steps') }),
  };
}

/** Undefined: too little is left for a repeat. */
function partOf({ max_cost_usd: cost, max_steps: steps }: EvalBudget, places: number): EvalBudget | undefined {
  const [part, count] = [cost === undefined ? undefined : cost / places, steps && Math.floor(steps / places)];
  if ((part !== undefined && part < leastCost) || (steps !== undefined && (count ?? 0) < 1)) return undefined;
  return { ...(part !== undefined && { max_cost_usd: part }), ...(count !== undefined && { max_steps: count }) };
}

/** In dollars. Costs are counted in millionths. */
const leastCost = 0.000_01;
