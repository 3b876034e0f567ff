import * as contract from '@holdpoint/contract';
import { forkField, isAbsent, publicationIs, runField, type Transition } from '../model.ts';

/** Where a fork begins. */
export interface Fork {
  from: contract.ForkedFrom;
  /** The events of a turn kept in part. */
  inherited: readonly contract.NewEvent[];
}

/** The log of the original run names its forks: its workspace is kept until they have their copy. */
export const recordFork = (fork: { child: string; step_id: string | null; snapshot: string }): Transition => ({
  if: [
    isAbsent(forkField(fork.child)),
    publicationIs('none', 'requested', 'parked', 'published', 'conflicted', 'failed', 'rejected'),
  ],
  events: [{ type: 'run.forked', data: fork }],
});

/** The creator of a run, its source and its tools. */
export interface Creation {
  stored: contract.Payload<contract.RunSpec>;
  by: string;
  /** @default the tenant `default` */
  tenant?: contract.Tenant | undefined;
  /** The version of each tool. */
  tools: Record<string, string>;
  fork?: Fork;
  parent?: contract.Parent;
  /** Where the caller's trace continues. */
  trace?: contract.TraceContext | undefined;
  /** The trace of the run which the new run continues or works for, unless the trace is known from the id. */
  linkedTraceId?: string | undefined;
}

/** Creates a run. A second create with the same id changes nothing. */
export function createRun(
  spec: contract.RunSpec,
  { stored, by, tenant, tools, fork, parent, trace, linkedTraceId }: Creation,
): Transition {
  return {
    if: [isAbsent(runField.status)],
    events: [
      {
        type: 'run.created',
        data: {
          spec: stored,
          title: titleOf(spec),
          toolset: spec.toolset,
          planner: spec.goal.planner,
          model: spec.goal.planner === 'model' ? spec.goal.model : undefined,
          labels: spec.labels,
          created_by: by,
          tenant: tenant === contract.defaultTenant ? undefined : tenant,
          dry_run: spec.modes.dry_run || undefined,
          priority: spec.priority === 'normal' ? undefined : spec.priority,
          tools,
          parent,
          forked_from: fork?.from,
          ...trace,
          linked_trace_id: linkedTraceId,
        },
      },
      ...(fork?.inherited ?? []),
    ],
  };
}

const titleLength = 80;

function titleOf(spec: contract.RunSpec): string {
  if (spec.title !== undefined) return spec.title;
  if (spec.goal.planner === 'scripted') return groupsText(spec.goal.plan.groups.length);
  if (spec.goal.planner === 'open') return 'Calls of its caller';
  const line = spec.goal.prompt.trim().split('\n', 1)[0] ?? '';
  return line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line;
}

const groupsText = (count: number): string => `${count} ${count === 1 ? 'group' : 'groups'} of tool calls`;
