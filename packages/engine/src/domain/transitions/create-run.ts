import type { NewEvent } from '../events.ts';
import { runField } from '../fields.ts';
import type { ForkedFrom } from '../lineage.ts';
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

/** A run comes to be; a second create with the same id changes nothing. */
export function createRun(spec: RunSpec, stored: Payload, by: string, fork?: Fork): Transition {
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
