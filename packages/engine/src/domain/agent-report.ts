import type { AgentReport, AgentsTotal, TreeUsage } from '@holdpoint/contract';

export const noUsage: TreeUsage = {
  ...{ steps: 0, active_ms: 0, wall_ms: 0 },
  ...{ input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, cost_micros: 0, agents: 0 },
};
const noReports: AgentsTotal = { used: noUsage, waiting: 0, approvals: 0, paused: 0 };

/**
 * The total after a sub-agent reported again.
 * @param options.isRunning the run is running, so its own clock counts for its wall time
 */
export function replaceReport(
  total: AgentsTotal = noReports,
  before: AgentReport | undefined,
  after: AgentReport,
  { isRunning }: { isRunning: boolean },
): AgentsTotal {
  const added = minus(after.used, before?.used ?? noUsage);
  const paused = total.paused - (before?.paused ?? 0) + after.paused;
  const isSettled = total.blocker !== undefined && total.blocker.run_id === before?.blocker?.run_id;
  const blocker = after.blocker ?? (isSettled ? undefined : total.blocker);
  return {
    used: plus(total.used, { ...added, wall_ms: isRunning ? 0 : added.wall_ms }),
    waiting: total.waiting - Number(before?.waiting ?? false) + Number(after.waiting),
    approvals: total.approvals - (before?.approvals ?? 0) + after.approvals,
    paused,
    blocker: paused > 0 ? blocker : undefined,
  };
}

/** Whether two reports differ only in their times. */
export function isSameReport(one: AgentReport | undefined, other: AgentReport): boolean {
  return one !== undefined && isSameBlockage(one, other) && textOf(timeless(one)) === textOf(timeless(other));
}

export const isSameBlockage = (one: AgentReport | undefined, other: AgentReport): boolean =>
  textOf(blockageOf(one ?? { ...noReports, waiting: false })) === textOf(blockageOf(other));

export const plus = (one: TreeUsage, other: TreeUsage): TreeUsage => each((name) => one[name] + other[name]);
/** The larger of each count, because the clocks of two processes may differ. */
export const atLeast = (one: TreeUsage, other: TreeUsage): TreeUsage =>
  each((name) => Math.max(one[name], other[name]));
const minus = (one: TreeUsage, other: TreeUsage): TreeUsage => each((name) => one[name] - other[name]);

const timeless = ({ used: { active_ms: _, wall_ms: __, ...counts } }: AgentReport) => counts;
const blockageOf = ({ waiting, approvals, paused, blocker }: AgentReport) => ({
  ...{ waiting, approvals, paused },
  blocker: blocker && [blocker.run_id, blocker.reason.code, blocker.reason.message],
});
const textOf = (value: unknown): string => JSON.stringify(value);

function each(of: (name: keyof TreeUsage) => number): TreeUsage {
  const names = Object.keys(noUsage) as (keyof TreeUsage)[];
  return Object.fromEntries(names.map((name) => [name, of(name)])) as TreeUsage;
}
