import type { RunSpec } from './run-spec.ts';
import type { RunState } from './state.ts';
import type { Problem } from './vocabulary.ts';

/**
 * The first of the run's limits that it has reached, counted from its last resume. Looked at before each turn: a turn that has begun is
 * not cut.
 * @param now milliseconds since the epoch
 */
export function limitReached(run: RunState, { limits, task }: RunSpec, now: number): Problem | undefined {
  const { budget_from: from } = run;
  const tokens = run.input_tokens + run.output_tokens - from.tokens;
  const seconds = (activeMs(run, now) - from.active_ms) / 1000;
  const dollars = (run.cost_micros - from.cost_micros) / 1e6;
  // A plan has as many turns as it has groups; only a model can go on for ever.
  if (task.planner === 'model' && run.turn - from.turn >= limits.max_turns) {
    return reached('max_turns', `took ${limits.max_turns} turns`);
  }
  if (limits.max_steps !== undefined && run.steps - from.steps >= limits.max_steps) {
    return reached('max_steps', `planned ${run.steps - from.steps} steps (limit ${limits.max_steps})`);
  }
  if (limits.wall_s !== undefined && seconds >= limits.wall_s) {
    return reached('wall_s', `ran for ${Math.round(seconds)} s (limit ${limits.wall_s})`);
  }
  if (limits.max_tokens !== undefined && tokens >= limits.max_tokens) {
    return reached('max_tokens', `took ${tokens} tokens (limit ${limits.max_tokens})`);
  }
  if (limits.max_cost_usd !== undefined && dollars >= limits.max_cost_usd) {
    return reached('max_cost_usd', `cost $${dollars.toFixed(4)} (limit $${limits.max_cost_usd})`);
  }
  return undefined;
}

const reached = (code: string, what: string): Problem => ({
  code,
  message: `The run ${what}, which is its limit.`,
  next: 'Resume it to grant as much again, or cancel it.',
});

/**
 * Milliseconds that the run has been running. Its parts were timed by processes whose clocks may have differed, so it may come out below
 * zero, and then counts as zero.
 */
export const activeMs = (run: RunState, now: number): number =>
  Math.max(0, run.active_ms + (run.status === 'running' ? now : 0));
