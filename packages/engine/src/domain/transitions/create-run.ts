import type { ForkedFrom, NewEvent, Parent, Payload, PublicationStatus, RunSpec } from '@holdpoint/contract';
import { runField } from '../fields.ts';
import type { Transition } from '../transition.ts';

/** Where a fork begins. */
export interface Fork {
  from: ForkedFrom;
  /** What it takes over of a turn that is kept in part. */
  inherited: readonly NewEvent[];
}

/** The other run's log names its forks; its workspace is not discarded before they have their copy. */
export const recordFork = (fork: { child: string; step_id: string | null; snapshot: string }): Transition => ({
  if: [
    { field: runField.fork(fork.child), is: [] },
    {
      field: runField.publication,
      is: [
        'none',
        'requested',
        'parked',
        'published',
        'conflicted',
        'failed',
        'rejected',
      ] satisfies PublicationStatus[],
    },
  ],
  events: [{ type: 'run.forked', data: fork }],
});

/** Who makes a run, of what, and with which tools. */
export interface Creation {
  stored: Payload;
  by: string;
  /** The version of each tool. */
  tools: Record<string, string>;
  fork?: Fork;
  parent?: Parent;
}

/** A run comes to be; a second create with the same id changes nothing. */
export function createRun(spec: RunSpec, { stored, by, tools, fork, parent }: Creation): Transition {
  return {
    if: [{ field: runField.status, is: [] }],
    events: [
      {
        type: 'run.created',
        data: {
          spec: stored,
          title: titleOf(spec),
          toolset: spec.toolset,
          planner: spec.goal.planner,
          ...(spec.goal.planner === 'model' ? { model: spec.goal.model } : {}),
          labels: spec.labels,
          created_by: by,
          ...(spec.priority === 'normal' ? {} : { priority: spec.priority }),
          tools,
          ...(parent === undefined ? {} : { parent }),
          ...(fork === undefined ? {} : { forked_from: fork.from }),
        },
      },
      ...(fork?.inherited ?? []),
    ],
  };
}

const titleLength = 80;

function titleOf(spec: RunSpec): string {
  if (spec.title !== undefined) return spec.title;
  if (spec.goal.planner === 'scripted') return `${spec.goal.plan.groups.length} groups of tool calls`;
  const line = spec.goal.prompt.trim().split('\n', 1)[0] ?? '';
  return line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line;
}
