import type { Problem, RunSpec } from '@holdpoint/contract';
import type { RunState } from './state.ts';

/** Tools that the run depends on and that are not what they were when it began: those of a plan, and for a model all that it was shown. */
export function changedTools(
  { tools }: RunState,
  { goal }: RunSpec,
  now: Record<string, string>,
): { changed: string[]; gone: string[] } {
  const planned =
    goal.planner === 'scripted'
      ? new Set(goal.plan.groups.flatMap(({ steps }) => steps.map(({ tool }) => tool)))
      : undefined;
  const pinned = Object.entries(tools ?? {}).filter(([name]) => planned?.has(name) ?? true);
  return {
    changed: pinned.flatMap(([name, version]) => (now[name] !== undefined && now[name] !== version ? [name] : [])),
    gone: pinned.flatMap(([name]) => (now[name] === undefined ? [name] : [])),
  };
}

/** What a person is told before the run may go on. */
export function toolsChanged({ changed, gone }: { changed: string[]; gone: string[] }): Problem | undefined {
  if (changed.length + gone.length === 0) return undefined;
  const said = [
    ...(changed.length > 0 ? [`changed: ${changed.join(', ')}`] : []),
    ...(gone.length > 0 ? [`gone: ${gone.join(', ')}`] : []),
  ];
  return {
    code: 'tools_changed',
    message: `The tools are not those that the run was begun with (${said.join('; ')}).`,
    next: 'Resume with accept_new_version to go on with the tools as they are now, or run workers of the version it was begun with.',
  };
}
