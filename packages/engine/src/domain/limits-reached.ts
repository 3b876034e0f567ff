import type { AgentReport, GivenLimits, Problem, RunSpec, TreeUsage, Usage } from '@holdpoint/contract';
import { noUsage, plus } from './agent-report.ts';
import type { RunState } from './model.ts';

/**
 * The first reached limit of the run, counted from its last resume. Checked before each turn: a turn already begun is never cut.
 * @param now milliseconds since the epoch
 * @param next calls of the next turn, for a plan
 */
export function limitReached(run: RunState, { limits, goal }: RunSpec, now: number, next = 0): Problem | undefined {
  // The groups of a plan bound its turns; only a model can continue for ever.
  if (goal.planner === 'model' && run.turn - (run.budget_from?.turn ?? 0) >= limits.max_turns) {
    return reached('max_turns', `took ${limits.max_turns} turns`);
  }
  return budgetReached(run, limits, now, next);
}

/**
 * The first reached limit among the limits on the run together with every sub-agent beneath the run. A group of a plan runs whole or not at
 * all: a group larger than the rest of the budget waits for a resume. With the whole budget left the group runs, because no budget would
 * ever hold the group.
 */
export function budgetReached(run: RunState, limits: GivenLimits, now: number, next = 0): Problem | undefined {
  const { steps, active_ms, tokens, cost_micros } = usedSinceResume(run, now);
  const all = run.agents > 0 ? ' together with its sub-agents' : '';
  if (limits.max_steps !== undefined && steps >= limits.max_steps) {
    return reached('max_steps', `planned ${steps} steps${all} (limit ${limits.max_steps})`);
  }
  if (limits.max_steps !== undefined && steps > 0 && steps + next > limits.max_steps) {
    return reached(
      'max_steps',
      `planned ${steps} steps${all}, and the next group has ${next} (limit ${limits.max_steps})`,
    );
  }
  if (limits.wall_s !== undefined && active_ms >= limits.wall_s * 1000) {
    return reached('wall_s', `ran for ${Math.round(active_ms / 1000)} s (limit ${limits.wall_s})`);
  }
  if (limits.max_tokens !== undefined && tokens >= limits.max_tokens) {
    return reached('max_tokens', `took ${tokens} tokens${all} (limit ${limits.max_tokens})`);
  }
  if (limits.max_cost_usd !== undefined && cost_micros / 1e6 >= limits.max_cost_usd) {
    return reached('max_cost_usd', `cost $${(cost_micros / 1e6).toFixed(4)}${all} (limit $${limits.max_cost_usd})`);
  }
  return undefined;
}

/** The use of a limit since the last resume. */
export interface BudgetUse {
  limit: 'max_turns' | 'max_steps' | 'wall_s' | 'max_tokens' | 'max_cost_usd';
  used: number;
  most: number;
  /** The same for every turn until the limit starts from zero once more. */
  since: string;
}

/** The limits that a run has, with their use. Where the run has sub-agents, their use counts. */
export function budgetsOf(run: RunState, { limits, goal }: RunSpec, now: number): BudgetUse[] {
  const used = usedSinceResume(run, now);
  const since = `${run.id} ${run.budget_from?.turn ?? 0}`;
  const all: Omit<BudgetUse, 'since'>[] = [
    ...(goal.planner === 'model' ? [{ limit: 'max_turns' as const, used: used.turn, most: limits.max_turns }] : []),
    ...uses('max_steps', used.steps, limits.max_steps),
    ...uses('wall_s', used.active_ms / 1000, limits.wall_s),
    ...uses('max_tokens', used.tokens, limits.max_tokens),
    ...uses('max_cost_usd', used.cost_micros / 1e6, limits.max_cost_usd),
  ];
  return all.map((use) => ({ ...use, since }));
}

const uses = (limit: BudgetUse['limit'], used: number, most: number | undefined) =>
  most === undefined ? [] : [{ limit, used, most }];

const reached = (code: string, what: string): Problem => ({
  code,
  message: `The run ${what}, which is its limit.`,
  next: 'Resume it to grant as much again, or cancel it.',
});

/** The total usage of a run and its sub-agents. */
export const usedByTree = (run: RunState, now: number): TreeUsage => {
  const active = activeMs(run, now);
  const own: TreeUsage = {
    ...{ steps: run.steps, active_ms: active, wall_ms: active },
    ...{ input_tokens: run.input_tokens, output_tokens: run.output_tokens, cost_micros: run.cost_micros },
    cached_input_tokens: run.cached_input_tokens,
    agents: run.agents,
  };
  return plus(own, run.agents_total?.used ?? noUsage);
};

/** The usage of a run as counted by limits. */
export function usageOf(run: RunState, now: number): Usage {
  const { steps, wall_ms, input_tokens, output_tokens, cost_micros, agents } = usedByTree(run, now);
  return { turn: run.turn, steps, active_ms: wall_ms, tokens: input_tokens + output_tokens, cost_micros, agents };
}

export function usedSinceResume(run: RunState, now: number): Usage {
  const { budget_from: from } = run;
  const used = usageOf(run, now);
  const names = Object.keys(used) as (keyof Usage)[];
  return Object.fromEntries(names.map((name) => [name, used[name] - (from?.[name] ?? 0)])) as Usage;
}

/** The report of a sub-agent to the run above. */
export function reportOf(run: RunState, now: number): AgentReport {
  const { agents_total: beneath } = run;
  const isPaused = run.status === 'paused';
  const blocker = isPaused && run.reason ? { run_id: run.id, reason: run.reason } : beneath?.blocker;
  return {
    used: usedByTree(run, now),
    waiting: isPaused || run.status === 'waiting',
    approvals: run.parked + (beneath?.approvals ?? 0),
    paused: Number(isPaused) + (beneath?.paused ?? 0),
    blocker,
  };
}

/**
 * Milliseconds the run has spent in the status `running`. Processes with different clocks may have timed its parts: a sum below zero counts
 * as zero.
 */
const activeMs = (run: RunState, now: number): number =>
  Math.max(0, run.active_ms + (run.status === 'running' ? now : 0));
