import type { Problem, RunSpec } from '@holdpoint/contract';
import type { RunState } from './model.ts';

/** Tools changed since the run began: among the tools of a plan, or among all tools shown to a model. */
export function changedTools(
  { tools }: RunState,
  { goal }: RunSpec,
  now: Record<string, string>,
): { changed: string[]; gone: string[] } {
  const other = Object.entries(tools ?? {}).filter(([name, version]) => now[name] !== version);
  // Each turn asks, and a plan may be long.
  if (other.length === 0) return { changed: [], gone: [] };
  const planned =
    goal.planner === 'scripted'
      ? new Set(goal.plan.groups.flatMap(({ steps }) => steps.map(({ tool }) => tool)))
      : undefined;
  const names = other.map(([name]) => name).filter((name) => planned?.has(name) ?? true);
  return {
    changed: names.filter((name) => now[name] !== undefined),
    gone: names.filter((name) => now[name] === undefined),
  };
}

/** The problem to be accepted by a person before the run may continue. */
export function toolsChanged({ changed, gone }: { changed: string[]; gone: string[] }): Problem | undefined {
  if (changed.length + gone.length === 0) return undefined;
  const parts = [
    ...(changed.length > 0 ? [`changed: ${changed.join(', ')}`] : []),
    ...(gone.length > 0 ? [`gone: ${gone.join(', ')}`] : []),
  ];
  return {
    code: 'tools_changed',
    message: `The tools are not those that the run started with (${parts.join('; ')}).`,
    next: 'Resume with accept_new_version to continue with the current tools, or run workers of the version that the run started with.',
  };
}
