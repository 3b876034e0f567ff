import { runField } from '../fields.ts';
import type { Payload } from '../payload.ts';
import type { RunSpec } from '../run-spec.ts';
import type { Transition } from '../transition.ts';

/** A run comes to be; a second create with the same id changes nothing. */
export function createRun(spec: RunSpec, stored: Payload, by: string): Transition {
  return {
    if: [{ field: runField.status, is: [] }],
    events: [
      {
        type: 'run.created',
        data: {
          spec: stored,
          title: titleOf(spec),
          toolset: spec.toolset,
          planner: spec.task.planner,
          ...(spec.task.planner === 'model' ? { model: spec.task.model } : {}),
          labels: spec.labels,
          created_by: by,
        },
      },
    ],
  };
}

const titleLength = 80;

function titleOf(spec: RunSpec): string {
  if (spec.title !== undefined) return spec.title;
  if (spec.task.planner === 'scripted') return `${spec.task.plan.groups.length} groups of tool calls`;
  const line = spec.task.prompt.trim().split('\n', 1)[0] ?? '';
  return line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line;
}
