import type { NewEvent } from '../events.ts';
import { runField } from '../fields.ts';
import type { ForkedFrom, Parent } from '../lineage.ts';
import type { Payload } from '../payload.ts';
import type { RunSpec } from '../run-spec.ts';
import type { Transition } from '../transition.ts';
import type { PublicationStatus } from '../vocabulary.ts';

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
          planner: spec.task.planner,
          ...(spec.task.planner === 'model' ? { model: spec.task.model } : {}),
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
  if (spec.task.planner === 'scripted') return `${spec.task.plan.groups.length} groups of tool calls`;
  const line = spec.task.prompt.trim().split('\n', 1)[0] ?? '';
  return line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line;
}
