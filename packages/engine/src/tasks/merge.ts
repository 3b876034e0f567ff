import { isTerminal, type MergeResult, type Problem, type RunSpec } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { type RunState, scopeOf } from '../domain/index.ts';
import { readRun, readTask } from '../log/index.ts';
import type { WorkspacePort } from '../ports/index.ts';

interface From {
  runId: string;
  snapshot: string;
  base: string;
}

/** The source of a sub-agent's merge, or the reason why no merge is possible. */
export async function findMerge(
  deps: Pick<WorkerDeps, 'redis' | 'catalog'>,
  run: RunState,
  taskId: string,
): Promise<{ status: 'ready'; from: From } | Refused> {
  const task = await readTask(deps.redis, run.id, taskId);
  const child = task?.about.child === undefined ? undefined : await readRun(deps.redis, task.about.child);
  if (!task || task.about.child === undefined) {
    return refuse(
      'ENOTASK',
      `${taskId} is no sub-agent of this run.`,
      'Use the task_id that the call of the sub-agent returned.',
    );
  }
  if (!child || !isTerminal(child.status)) {
    const { waits } = deps.catalog.taskTools(run.header.toolset);
    const next = waits === undefined ? 'Wait until the sub-agent has ended.' : `Wait for the sub-agent with ${waits}.`;
    return refuse('ETASKRUNNING', `The sub-agent ${taskId} is not over, so there is nothing to merge yet.`, next);
  }
  const { parent, snapshot } = child;
  if (child.status !== 'succeeded' || parent === undefined || snapshot === undefined) {
    return refuse(
      'ETASKFAILED',
      `The sub-agent ${taskId} ${child.status}: its changes are not merged.`,
      'Begin the sub-agent again.',
    );
  }
  if (child.publication === 'discarded' || child.publication === 'discarding') {
    return refuse(
      'ETASKDISCARDED',
      `The workspace of the sub-agent ${taskId} was discarded.`,
      'Begin the sub-agent again.',
    );
  }
  return { status: 'ready', from: { runId: child.id, snapshot, base: parent.snapshot } };
}

/** Merges into the tree of a run whose commands are frozen. The merge includes the files that background commands have written so far. */
export async function mergeFrozen(
  { workspaces }: Pick<WorkerDeps, 'workspaces'>,
  run: RunState,
  { from, spec, message, forbids }: Merge,
) {
  const tree = { runId: run.id, epoch: run.lease };
  const parent = run.snapshot ?? '';
  const ours =
    run.uncaptured === 0
      ? { snapshot: parent, files_changed: 0, skipped: 0 }
      : await workspaces.snapshot({ ...tree, parent, message, scope: scopeOf(run, spec), forbids });
  const merged = await workspaces.merge({ ...tree, parent: ours.snapshot, from, message });
  return { ours, merged };
}

interface Merge {
  from: From;
  spec: RunSpec;
  message: string;
  forbids?: Parameters<WorkspacePort['snapshot']>[0]['forbids'];
}

type Refused = Extract<MergeResult, { status: 'refused' }>;

function refuse(code: string, message: string, next: string): Refused {
  return { status: 'refused', problem: { code, message, next } satisfies Problem };
}
